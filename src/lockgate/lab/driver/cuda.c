/* libcuda.so.1: start-up and devices. */
#define _POSIX_C_SOURCE 200809L

#include "cuda_call.h"

#include "line.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct connection connection = CONNECTION_CLOSED;
static atomic_bool initialized;

static CUresult ask(struct request *request, struct reply *reply)
{
    if (request->full)
        return CUDA_ERROR_INVALID_VALUE;
    if (!connection_ask(&connection, request, CALL_TIMEOUT_MS, reply))
        return CUDA_ERROR_UNKNOWN;
    if (reply->code != CUDA_SUCCESS)
        reply_free(reply);
    return (CUresult)reply->code;
}

CUresult cuda_ask(const char *function, const unsigned long long *in, int ins, unsigned long long *out, int outs)
{
    struct request request;
    struct reply reply;
    request_begin(&request, function);
    for (int i = 0; i < ins; i++)
        request_integer(&request, in[i]);
    CUresult result = ask(&request, &reply);
    if (result != CUDA_SUCCESS)
        return result;
    for (int i = 0; i < outs; i++)
        if (!reply_unsigned(&reply, &out[i]))
            result = CUDA_ERROR_UNKNOWN;
    reply_free(&reply);
    return result;
}

CUresult cuda_ask_device(const char *function, CUdevice device, unsigned long long *out, int outs)
{
    if (!initialized)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (device < 0)
        return CUDA_ERROR_INVALID_DEVICE;
    return cuda_ask(function, &(unsigned long long){ (unsigned)device }, 1, out, outs);
}

static CUresult ask_device_text(const char *function, CUdevice device, char *to, size_t size)
{
    struct request request;
    struct reply reply;
    bool fits = false;
    if (!initialized)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (device < 0)
        return CUDA_ERROR_INVALID_DEVICE;
    request_begin(&request, function);
    request_integer(&request, (unsigned)device);
    CUresult result = ask(&request, &reply);
    if (result != CUDA_SUCCESS)
        return result;
    result = !reply_text(&reply, to, size, &fits) ? CUDA_ERROR_UNKNOWN : fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    reply_free(&reply);
    return result;
}

/* ---- start ---- */

CUresult cuInit(unsigned int flags)
{
    char minors[MOST_GPUS * 4];
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (initialized)
        return CUDA_SUCCESS;
    if (device_node_error("nvidiactl") != 0)
        return CUDA_ERROR_NO_DEVICE;
    if (device_node_error("nvidia-uvm") != 0)
        return CUDA_ERROR_UNKNOWN; /* CUDA, unlike NVML, cannot do without unified memory */
    visible_minors(minors, sizeof(minors));
    connection_prepare(&connection, API_CUDA, minors, getenv("CUDA_VISIBLE_DEVICES"));
    int code = connection_open(&connection);
    CUresult result = code < 0 ? CUDA_ERROR_NO_DEVICE : (CUresult)code;
    if (result == CUDA_SUCCESS)
        result = cuda_ask("cuInit", NULL, 0, NULL, 0);
    initialized = result == CUDA_SUCCESS;
    return result;
}

CUresult cuDriverGetVersion(int *version)
{
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = CUDA_VERSION; /* the library's own, which needs no driver */
    return CUDA_SUCCESS;
}

static const struct {
    CUresult error;
    const char *name, *text;
} errors[] = {
    { CUDA_SUCCESS, "CUDA_SUCCESS", "no error" },
    { CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument" },
    { CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
    { CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error" },
    { CUDA_ERROR_STUB_LIBRARY, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library" },
    { CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable" },
    { CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected" },
    { CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal" },
    { CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context" },
    { CUDA_ERROR_ECC_UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered" },
    { CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle" },
    { CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found" },
    { CUDA_ERROR_SYSTEM_NOT_READY, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized" },
    { CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
      "system has unsupported display driver / cuda driver combination" },
    { CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
      "forward compatibility was attempted on non supported HW" },
    { CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error" },
};

CUresult cuGetErrorName(CUresult error, const char **name)
{
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    *name = NULL;
    for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
        if (errors[i].error == error)
            *name = errors[i].name;
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    if (!text)
        return CUDA_ERROR_INVALID_VALUE;
    *text = NULL;
    for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
        if (errors[i].error == error)
            *text = errors[i].text;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- devices ---- */

CUresult cuDeviceGetCount(int *count)
{
    unsigned long long value;
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    if (!initialized)
        return CUDA_ERROR_NOT_INITIALIZED;
    CUresult result = cuda_ask("cuDeviceGetCount", NULL, 0, &value, 1);
    if (result == CUDA_SUCCESS)
        *count = (int)value;
    return result;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    int count;
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = cuDeviceGetCount(&count);
    if (result != CUDA_SUCCESS)
        return result;
    if (ordinal < 0 || ordinal >= count)
        return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    char whole[128];
    if (!name || length <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = ask_device_text("cuDeviceGetName", device, whole, sizeof(whole));
    if (result == CUDA_SUCCESS)
        snprintf(name, (size_t)length, "%s", whole);
    return result;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    char text[64];
    unsigned count = 0;
    if (!uuid)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = ask_device_text("cuDeviceGetUuid_v2", device, text, sizeof(text));
    if (result != CUDA_SUCCESS)
        return result;
    for (const char *digit = strchr(text, '-'); digit && *digit && count < sizeof(uuid->bytes); digit++) {
        unsigned byte;
        if (*digit == '-')
            continue;
        if (sscanf(digit, "%2x", &byte) != 1 || !digit[1])
            return CUDA_ERROR_UNKNOWN;
        uuid->bytes[count++] = (char)byte;
        digit++;
    }
    return count == sizeof(uuid->bytes) ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    return cuDeviceGetUuid_v2(uuid, device);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    unsigned long long value;
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = cuda_ask_device("cuDeviceTotalMem_v2", device, &value, 1);
    if (result == CUDA_SUCCESS)
        *bytes = value;
    return result;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    unsigned long long answer;
    if (!value || attribute < 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!initialized)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (device < 0)
        return CUDA_ERROR_INVALID_DEVICE;
    CUresult result = cuda_ask("cuDeviceGetAttribute",
                                  (unsigned long long[]){ (unsigned)attribute, (unsigned)device }, 2, &answer, 1);
    if (result == CUDA_SUCCESS)
        *value = (int)answer;
    return result;
}
