/* NVML: who uses a device. Lists have a count that is room going in and length coming out. */
#include "nvml_call.h"

#include <stddef.h>
#include <stdint.h>

/* What a list call answers for `count` entries and room for `room`: nothing is written unless all fit. */
static nvmlReturn_t check_room(unsigned long long count, unsigned room, const void *entries)
{
    if (count > LINE_LIMIT)
        return NVML_ERROR_UNKNOWN;
    if (count > room)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    return count > 0 && !entries ? NVML_ERROR_INVALID_ARGUMENT : NVML_SUCCESS;
}

static nvmlReturn_t take_process(struct reply *reply, nvmlProcessInfo_v2_t *process)
{
    unsigned long long values[4];
    for (int i = 0; i < 4; i++)
        if (!reply_unsigned(reply, &values[i]) || (i != 1 && values[i] > UINT32_MAX))
            return NVML_ERROR_UNKNOWN;
    process->pid = (unsigned)values[0];
    process->usedGpuMemory = values[1];
    process->gpuInstanceId = (unsigned)values[2];
    process->computeInstanceId = (unsigned)values[3];
    return NVML_SUCCESS;
}

/* Fills entries of version 1 when `first` is set, of version 2 otherwise. */
static nvmlReturn_t list_processes(const char *function, nvmlDevice_t device, unsigned *count,
                                   nvmlProcessInfo_v1_t *first, nvmlProcessInfo_v2_t *second)
{
    struct reply reply;
    unsigned long long length = 0;
    REQUIRE(count);
    nvmlReturn_t result = nvml_ask(&reply, function, "d", device);
    if (result != NVML_SUCCESS)
        return result;
    result = reply_unsigned(&reply, &length)
                 ? check_room(length, *count, first ? (const void *)first : (const void *)second)
                 : NVML_ERROR_UNKNOWN;
    for (unsigned i = 0; result == NVML_SUCCESS && i < length; i++) {
        nvmlProcessInfo_v2_t process;
        result = take_process(&reply, &process);
        if (result != NVML_SUCCESS)
            break;
        if (first)
            first[i] = (nvmlProcessInfo_v1_t){ process.pid, process.usedGpuMemory };
        else
            second[i] = process;
    }
    if (result != NVML_ERROR_UNKNOWN)
        *count = (unsigned)length;
    reply_free(&reply);
    return result;
}

#define PROCESS_LISTS(kind)                                                                                        \
    nvmlReturn_t nvmlDeviceGet##kind##RunningProcesses_v3(nvmlDevice_t device, unsigned int *infoCount,            \
                                                          nvmlProcessInfo_t *infos)                                \
    {                                                                                                              \
        return list_processes("nvmlDeviceGet" #kind "RunningProcesses_v3", device, infoCount, NULL, infos);        \
    }                                                                                                              \
    nvmlReturn_t nvmlDeviceGet##kind##RunningProcesses_v2(nvmlDevice_t device, unsigned int *infoCount,            \
                                                          nvmlProcessInfo_v2_t *infos)                             \
    {                                                                                                              \
        return list_processes("nvmlDeviceGet" #kind "RunningProcesses_v3", device, infoCount, NULL, infos);        \
    }                                                                                                              \
    nvmlReturn_t nvmlDeviceGet##kind##RunningProcesses(nvmlDevice_t device, unsigned int *infoCount,               \
                                                       nvmlProcessInfo_v1_t *infos)                                \
    {                                                                                                              \
        return list_processes("nvmlDeviceGet" #kind "RunningProcesses_v3", device, infoCount, infos, NULL);        \
    }

PROCESS_LISTS(Compute)
PROCESS_LISTS(Graphics)
PROCESS_LISTS(MPSCompute)

static nvmlReturn_t take_sample(struct reply *reply, nvmlProcessUtilizationSample_t *sample)
{
    unsigned long long values[6];
    for (int i = 0; i < 6; i++)
        if (!reply_unsigned(reply, &values[i]) || (i != 1 && values[i] > UINT32_MAX))
            return NVML_ERROR_UNKNOWN;
    sample->pid = (unsigned)values[0];
    sample->timeStamp = values[1];
    sample->smUtil = (unsigned)values[2];
    sample->memUtil = (unsigned)values[3];
    sample->encUtil = (unsigned)values[4];
    sample->decUtil = (unsigned)values[5];
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device, nvmlProcessUtilizationSample_t *utilization,
                                             unsigned int *processSamplesCount, unsigned long long lastSeenTimeStamp)
{
    struct reply reply;
    unsigned long long length = 0;
    (void)lastSeenTimeStamp; /* every sample is of now */
    REQUIRE(processSamplesCount);
    nvmlReturn_t result = nvml_ask(&reply, "nvmlDeviceGetProcessUtilization", "d", device);
    if (result != NVML_SUCCESS)
        return result;
    result = reply_unsigned(&reply, &length) ? check_room(length, utilization ? *processSamplesCount : 0, utilization)
                                             : NVML_ERROR_UNKNOWN;
    for (unsigned i = 0; result == NVML_SUCCESS && i < length; i++)
        result = take_sample(&reply, &utilization[i]);
    if (result != NVML_ERROR_UNKNOWN)
        *processSamplesCount = (unsigned)length;
    reply_free(&reply);
    return result;
}
