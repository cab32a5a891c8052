/* libcuda.so.1: devices and accounting in the simulator, the bytes of device memory in this process. */
#define _DEFAULT_SOURCE

#include "cuda.h"

#include "line.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the lists below */
static struct connection connection = CONNECTION_CLOSED;
static atomic_bool initialized;

struct CUctx_st {
    struct CUctx_st *next;
    CUdevice device;
    unsigned long long number; /* of the simulator, for what the context itself holds */
};

struct memory {
    struct memory *next;
    struct CUctx_st *context;
    unsigned long long number;
    unsigned char *bytes;
    size_t size;
};

static struct CUctx_st *contexts;
static struct memory *memories;
static _Thread_local struct CUctx_st *current;

/* ---- asking the simulator ---- */

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

/* A call with up to two numbers in and up to two numbers out. */
static CUresult ask_numbers(const char *function, const unsigned long long *in, int ins, unsigned long long *out,
                            int outs)
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

static CUresult ask_device(const char *function, CUdevice device, unsigned long long *out, int outs)
{
    if (!initialized)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (device < 0)
        return CUDA_ERROR_INVALID_DEVICE;
    return ask_numbers(function, &(unsigned long long){ (unsigned)device }, 1, out, outs);
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
        result = ask_numbers("cuInit", NULL, 0, NULL, 0);
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
    CUresult result = ask_numbers("cuDeviceGetCount", NULL, 0, &value, 1);
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
    CUresult result = ask_device("cuDeviceTotalMem_v2", device, &value, 1);
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
    CUresult result = ask_numbers("cuDeviceGetAttribute",
                                  (unsigned long long[]){ (unsigned)attribute, (unsigned)device }, 2, &answer, 1);
    if (result == CUDA_SUCCESS)
        *value = (int)answer;
    return result;
}

/* ---- contexts ---- */

static bool known(const struct CUctx_st *context)
{
    struct CUctx_st *each = contexts;
    while (each && each != context)
        each = each->next;
    return each != NULL;
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
    unsigned long long number;
    (void)flags; /* how a waiting thread waits */
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = ask_device("cuCtxCreate_v2", device, &number, 1);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUctx_st *created = malloc(sizeof(*created));
    if (!created)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    *created = (struct CUctx_st){ .next = contexts, .device = device, .number = number };
    contexts = created;
    pthread_mutex_unlock(&lock);
    *context = current = created;
    return CUDA_SUCCESS;
}

static void release(unsigned long long number)
{
    (void)ask_numbers("cuMemFree_v2", &number, 1, NULL, 0);
}

static void free_memory(struct memory **link)
{
    struct memory *gone = *link;
    *link = gone->next;
    release(gone->number);
    munmap(gone->bytes, gone->size);
    free(gone);
}

CUresult cuCtxDestroy_v2(CUcontext context)
{
    pthread_mutex_lock(&lock);
    struct CUctx_st **link = &contexts;
    while (*link && *link != context)
        link = &(*link)->next;
    if (!*link) {
        pthread_mutex_unlock(&lock);
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *link = context->next;
    for (struct memory **memory = &memories; *memory;)
        if ((*memory)->context == context)
            free_memory(memory);
        else
            memory = &(*memory)->next;
    pthread_mutex_unlock(&lock);
    release(context->number);
    if (current == context)
        current = NULL;
    free(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    pthread_mutex_lock(&lock);
    bool good = !context || known(context);
    pthread_mutex_unlock(&lock);
    if (good)
        current = context;
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    *context = current;
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
    return current ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

/* ---- memory ---- */

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    unsigned long long values[2];
    if (!free_bytes || !total)
        return CUDA_ERROR_INVALID_VALUE;
    if (!current)
        return CUDA_ERROR_INVALID_CONTEXT;
    CUresult result = ask_device("cuMemGetInfo_v2", current->device, values, 2);
    if (result == CUDA_SUCCESS) {
        *free_bytes = values[0];
        *total = values[1];
    }
    return result;
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes)
{
    unsigned long long number;
    if (!pointer || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!current)
        return CUDA_ERROR_INVALID_CONTEXT;
    CUresult result = ask_numbers("cuMemAlloc_v2", (unsigned long long[]){ (unsigned)current->device, bytes }, 2,
                                  &number, 1);
    if (result != CUDA_SUCCESS)
        return result;
    struct memory *memory = malloc(sizeof(*memory));
    /* Pages are only taken when they are written: a test may well hold 80 GB. */
    void *space = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!memory || space == MAP_FAILED) {
        free(memory);
        release(number);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&lock);
    *memory = (struct memory){ .next = memories, .context = current, .number = number, .bytes = space, .size = bytes };
    memories = memory;
    pthread_mutex_unlock(&lock);
    *pointer = (uintptr_t)space;
    return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr pointer)
{
    pthread_mutex_lock(&lock);
    struct memory **link = &memories;
    while (*link && (uintptr_t)(*link)->bytes != pointer)
        link = &(*link)->next;
    bool found = *link != NULL;
    if (found)
        free_memory(link);
    pthread_mutex_unlock(&lock);
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Where a range of device memory is; NULL when not all of it was allocated. */
static void *device_range(CUdeviceptr pointer, size_t bytes)
{
    void *range = NULL;
    pthread_mutex_lock(&lock);
    for (struct memory *memory = memories; memory && !range; memory = memory->next) {
        uintptr_t start = (uintptr_t)memory->bytes;
        if (pointer >= start && pointer - start <= memory->size && bytes <= memory->size - (pointer - start))
            range = memory->bytes + (pointer - start);
    }
    pthread_mutex_unlock(&lock);
    return range;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
    void *range = device_range(to, bytes);
    if (!range || !from)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(range, from, bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
    const void *range = device_range(from, bytes);
    if (!range || !to)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(to, range, bytes);
    return CUDA_SUCCESS;
}

/* ---- the one kernel ---- */

static char module_handle, function_handle; /* only their addresses are used */

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    if (!module || !image)
        return CUDA_ERROR_INVALID_VALUE;
    if (!current)
        return CUDA_ERROR_INVALID_CONTEXT;
    *module = (CUmodule)(void *)&module_handle;
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module)
{
    return (void *)module == &module_handle ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    if (!function || !name)
        return CUDA_ERROR_INVALID_VALUE;
    if ((void *)module != &module_handle)
        return CUDA_ERROR_INVALID_HANDLE;
    if (strcmp(name, "vectorAdd") != 0)
        return CUDA_ERROR_NOT_FOUND;
    *function = (CUfunction)(void *)&function_handle;
    return CUDA_SUCCESS;
}

/* vectorAdd(const float *a, const float *b, float *c, int n), a thread an element. */
static CUresult vector_add(void **parameters, unsigned long long threads)
{
    CUdeviceptr pointers[3];
    float *vectors[3];
    int n;
    memcpy(&n, parameters[3], sizeof(n));
    if (n < 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < 3; i++) {
        memcpy(&pointers[i], parameters[i], sizeof(pointers[i]));
        vectors[i] = device_range(pointers[i], (size_t)n * sizeof(float));
        if (!vectors[i])
            return CUDA_ERROR_INVALID_VALUE;
    }
    for (unsigned long long i = 0; i < threads && i < (unsigned long long)n; i++)
        vectors[2][i] = vectors[0][i] + vectors[1][i];
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                        unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
                        CUstream stream, void **parameters, void **extra)
{
    (void)shared_bytes;
    (void)stream;
    (void)extra;
    if ((void *)function != &function_handle)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!parameters || grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1 || block_x > 1024)
        return CUDA_ERROR_INVALID_VALUE;
    return current ? vector_add(parameters, (unsigned long long)grid_x * block_x) : CUDA_ERROR_INVALID_CONTEXT;
}
