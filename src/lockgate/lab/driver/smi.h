/* nvidia-smi's parts: the NVML functions it loads, the devices it shows, what each part prints. */
#ifndef LOCKGATE_SMI_H
#define LOCKGATE_SMI_H

#include "nvml.h"

#include <stdbool.h>
#include <stddef.h>

#define MOST_DEVICES 64
#define TEXT_SIZE 128

#define SMI_FUNCTIONS(X)                         \
    X(nvmlInit_v2)                               \
    X(nvmlShutdown)                              \
    X(nvmlErrorString)                           \
    X(nvmlSystemGetDriverVersion)                \
    X(nvmlSystemGetNVMLVersion)                  \
    X(nvmlSystemGetCudaDriverVersion_v2)         \
    X(nvmlSystemGetProcessName)                  \
    X(nvmlDeviceGetCount_v2)                     \
    X(nvmlDeviceGetHandleByIndex_v2)             \
    X(nvmlDeviceGetName)                         \
    X(nvmlDeviceGetUUID)                         \
    X(nvmlDeviceGetSerial)                       \
    X(nvmlDeviceGetVbiosVersion)                 \
    X(nvmlDeviceGetBoardPartNumber)              \
    X(nvmlDeviceGetMinorNumber)                  \
    X(nvmlDeviceGetArchitecture)                 \
    X(nvmlDeviceGetBrand)                        \
    X(nvmlDeviceGetCudaComputeCapability)        \
    X(nvmlDeviceGetPciInfo_v3)                   \
    X(nvmlDeviceGetPersistenceMode)              \
    X(nvmlDeviceGetDisplayActive)                \
    X(nvmlDeviceGetDisplayMode)                  \
    X(nvmlDeviceGetComputeMode)                  \
    X(nvmlDeviceGetMigMode)                      \
    X(nvmlDeviceGetMemoryInfo_v2)                \
    X(nvmlDeviceGetBAR1MemoryInfo)               \
    X(nvmlDeviceGetUtilizationRates)             \
    X(nvmlDeviceGetEncoderUtilization)           \
    X(nvmlDeviceGetDecoderUtilization)           \
    X(nvmlDeviceGetTemperature)                  \
    X(nvmlDeviceGetTemperatureThreshold)         \
    X(nvmlDeviceGetFanSpeed)                     \
    X(nvmlDeviceGetPerformanceState)             \
    X(nvmlDeviceGetPowerUsage)                   \
    X(nvmlDeviceGetPowerManagementLimit)         \
    X(nvmlDeviceGetEnforcedPowerLimit)           \
    X(nvmlDeviceGetPowerManagementDefaultLimit)  \
    X(nvmlDeviceGetPowerManagementLimitConstraints) \
    X(nvmlDeviceGetClockInfo)                    \
    X(nvmlDeviceGetMaxClockInfo)                 \
    X(nvmlDeviceGetCurrPcieLinkGeneration)       \
    X(nvmlDeviceGetMaxPcieLinkGeneration)        \
    X(nvmlDeviceGetCurrPcieLinkWidth)            \
    X(nvmlDeviceGetMaxPcieLinkWidth)             \
    X(nvmlDeviceGetPcieReplayCounter)            \
    X(nvmlDeviceGetEccMode)                      \
    X(nvmlDeviceGetTotalEccErrors)               \
    X(nvmlDeviceGetRetiredPagesPendingStatus)    \
    X(nvmlDeviceGetRemappedRows)                 \
    X(nvmlDeviceGetGspFirmwareVersion)           \
    X(nvmlDeviceGetGpuFabricInfoV)               \
    X(nvmlDeviceGetFieldValues)                  \
    X(nvmlDeviceGetComputeRunningProcesses_v3)   \
    X(nvmlDeviceGetGraphicsRunningProcesses_v3)  \
    X(nvmlDeviceGetMaxMigDeviceCount)            \
    X(nvmlDeviceGetMigDeviceHandleByIndex)       \
    X(nvmlDeviceGetGpuInstanceId)                \
    X(nvmlDeviceGetComputeInstanceId)            \
    X(nvmlDeviceGetAttributes_v2)

#define SMI_POINTER(name) __typeof__(name) *name;
struct smi_nvml {
    SMI_FUNCTIONS(SMI_POINTER)
};
#undef SMI_POINTER

extern struct smi_nvml nvml;

struct device {
    unsigned index;
    nvmlDevice_t handle;
};

struct devices {
    unsigned count;
    struct device each[MOST_DEVICES];
};

/* Each prints its part and returns an exit code. */
int smi_list(const struct devices *devices);
int smi_table(const struct devices *devices);
int smi_report(const struct devices *devices);
/* `fields` and `format` are comma-separated, as given to --query-gpu= and --format=. */
int smi_query_gpus(const struct devices *devices, const char *fields, const char *format);
int smi_query_processes(const struct devices *devices, const char *fields, const char *format);

/* Writes a field of the device; what it writes is shown only on NVML_SUCCESS. */
typedef nvmlReturn_t read_field(const struct device *device, char *to);

struct field {
    const char *name, *alias, *unit;
    read_field *read;
};

/* The field of that name or alias; NULL when there is none. */
const struct field *smi_field(const char *name, size_t length);

/* The value, or what nvidia-smi shows instead: N/A when it is not supported, else the error in brackets. */
const char *smi_or_error(nvmlReturn_t result, const char *text);

#define MIB (1024ULL * 1024ULL)

#endif
