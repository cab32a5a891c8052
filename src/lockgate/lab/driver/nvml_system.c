/* NVML: the driver as a whole, and how devices are found. */
#include "nvml_call.h"

#include <stddef.h>

const char *nvmlErrorString(nvmlReturn_t result)
{
    static const char *const texts[] = {
        "Success",
        "Uninitialized",
        "Invalid Argument",
        "Not Supported",
        "Insufficient Permissions",
        "Already Initialized",
        "Not Found",
        "Insufficient Size",
        "Insufficient External Power",
        "Driver Not Loaded",
        "Timeout",
        "Interrupt Request Issue",
        "NVML Shared Library Not Found",
        "Function Not Found",
        "Corrupted infoROM",
        "GPU is lost",
        "GPU requires reset",
        "GPU access blocked by the operating system",
        "Driver/library version mismatch",
        "In use by another client",
        "Insufficient Memory",
        "No data",
        "The requested vgpu operation is not available on target device, because ECC is enabled",
        "Insufficient Resources",
        "Frequency not supported",
        "Argument version mismatch",
        "Deprecated",
        "Not ready",
        "GPU not found",
        "Invalid state",
    };
    unsigned index = (unsigned)result;
    return index < sizeof(texts) / sizeof(*texts) ? texts[index] : "Unknown Error";
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
    return CALL(">t", version, length);
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length)
{
    return CALL(">t", version, length);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *cudaDriverVersion)
{
    return CALL(">i", cudaDriverVersion);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *cudaDriverVersion)
{
    return nvmlSystemGetCudaDriverVersion_v2(cudaDriverVersion);
}

nvmlReturn_t nvmlSystemGetDriverBranch(nvmlSystemDriverBranchInfo_t *branchInfo, unsigned int length)
{
    REQUIRE_VERSION(branchInfo, SystemDriverBranchInfo, 1);
    if (length > sizeof(branchInfo->branch))
        return NVML_ERROR_INVALID_ARGUMENT;
    return CALL(">t", branchInfo->branch, length);
}

nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char *name, unsigned int length)
{
    return CALL("u>t", pid, name, length);
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *deviceCount)
{
    return CALL(">u", deviceCount);
}

nvmlReturn_t nvmlDeviceGetCount(unsigned int *deviceCount)
{
    return nvmlDeviceGetCount_v2(deviceCount);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device)
{
    return CALL("u>d", index, device);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t *device)
{
    return nvmlDeviceGetHandleByIndex_v2(index, device);
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
    return CALL("s>d", uuid, device);
}

nvmlReturn_t nvmlDeviceGetHandleBySerial(const char *serial, nvmlDevice_t *device)
{
    return CALL("s>d", serial, device);
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *pciBusId, nvmlDevice_t *device)
{
    return CALL("s>d", pciBusId, device);
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char *pciBusId, nvmlDevice_t *device)
{
    return nvmlDeviceGetHandleByPciBusId_v2(pciBusId, device);
}

/* S-class units do not exist any more, and no device is excluded by the simulated driver's options. */
nvmlReturn_t nvmlUnitGetCount(unsigned int *unitCount)
{
    REQUIRE(unitCount);
    *unitCount = 0;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlGetExcludedDeviceCount(unsigned int *deviceCount)
{
    REQUIRE(deviceCount);
    *deviceCount = 0;
    return NVML_SUCCESS;
}
