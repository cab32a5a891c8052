/* The fields that nvidia-smi --query-gpu= knows, and how each is read. */
#include "smi.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define TEXT_FIELD(field, function)                                            \
    static nvmlReturn_t read_##field(const struct device *device, char *to)    \
    {                                                                          \
        return nvml.function(device->handle, to, TEXT_SIZE);                   \
    }

/* A field of one unsigned number; `divisor` and `format` give its form. */
#define NUMBER_FIELD(field, call, format, value_expression)                    \
    static nvmlReturn_t read_##field(const struct device *device, char *to)    \
    {                                                                          \
        unsigned value = 0;                                                    \
        nvmlReturn_t result = nvml.call;                                       \
        snprintf(to, TEXT_SIZE, format, value_expression);                     \
        return result;                                                         \
    }

#define MEMORY_FIELD(part)                                                             \
    static nvmlReturn_t read_memory_##part(const struct device *device, char *to)      \
    {                                                                                  \
        nvmlMemory_v2_t memory = { .version = NVML_STRUCT_VERSION(Memory, 2) };        \
        nvmlReturn_t result = nvml.nvmlDeviceGetMemoryInfo_v2(device->handle, &memory); \
        snprintf(to, TEXT_SIZE, "%llu", memory.part / MIB);                            \
        return result;                                                                 \
    }

#define SWITCH_FIELD(field, call, value_expression)                            \
    static nvmlReturn_t read_##field(const struct device *device, char *to)    \
    {                                                                          \
        nvmlEnableState_t first = 0, second = 0;                               \
        nvmlReturn_t result = nvml.call;                                       \
        (void)first, (void)second;                                             \
        strcpy(to, (value_expression) ? "Enabled" : "Disabled");               \
        return result;                                                         \
    }

#define ECC_FIELD(field, error, counter)                                                                  \
    static nvmlReturn_t read_##field(const struct device *device, char *to)                               \
    {                                                                                                     \
        unsigned long long count = 0;                                                                     \
        nvmlReturn_t result = nvml.nvmlDeviceGetTotalEccErrors(device->handle, error, counter, &count);   \
        snprintf(to, TEXT_SIZE, "%llu", count);                                                           \
        return result;                                                                                    \
    }

TEXT_FIELD(name, nvmlDeviceGetName)
TEXT_FIELD(uuid, nvmlDeviceGetUUID)
TEXT_FIELD(serial, nvmlDeviceGetSerial)
TEXT_FIELD(vbios, nvmlDeviceGetVbiosVersion)
MEMORY_FIELD(total)
MEMORY_FIELD(reserved)
MEMORY_FIELD(used)
MEMORY_FIELD(free)
NUMBER_FIELD(temperature, nvmlDeviceGetTemperature(device->handle, 0, &value), "%u", value)
NUMBER_FIELD(fan, nvmlDeviceGetFanSpeed(device->handle, &value), "%u", value)
NUMBER_FIELD(power, nvmlDeviceGetPowerUsage(device->handle, &value), "%.2f", value / 1000.0)
NUMBER_FIELD(power_limit, nvmlDeviceGetPowerManagementLimit(device->handle, &value), "%.2f", value / 1000.0)
NUMBER_FIELD(enforced_limit, nvmlDeviceGetEnforcedPowerLimit(device->handle, &value), "%.2f", value / 1000.0)
NUMBER_FIELD(default_limit, nvmlDeviceGetPowerManagementDefaultLimit(device->handle, &value), "%.2f", value / 1000.0)
NUMBER_FIELD(graphics_clock, nvmlDeviceGetClockInfo(device->handle, NVML_CLOCK_GRAPHICS, &value), "%u", value)
NUMBER_FIELD(sm_clock, nvmlDeviceGetClockInfo(device->handle, NVML_CLOCK_SM, &value), "%u", value)
NUMBER_FIELD(memory_clock, nvmlDeviceGetClockInfo(device->handle, NVML_CLOCK_MEM, &value), "%u", value)
NUMBER_FIELD(pcie_generation, nvmlDeviceGetCurrPcieLinkGeneration(device->handle, &value), "%u", value)
NUMBER_FIELD(pcie_generation_max, nvmlDeviceGetMaxPcieLinkGeneration(device->handle, &value), "%u", value)
NUMBER_FIELD(pcie_width, nvmlDeviceGetCurrPcieLinkWidth(device->handle, &value), "%u", value)
NUMBER_FIELD(pcie_width_max, nvmlDeviceGetMaxPcieLinkWidth(device->handle, &value), "%u", value)
NUMBER_FIELD(index, nvmlDeviceGetMinorNumber(device->handle, &value), "%u", device->index)
NUMBER_FIELD(state, nvmlDeviceGetPerformanceState(device->handle, (nvmlPstates_t *)&value), "P%u", value)
SWITCH_FIELD(persistence, nvmlDeviceGetPersistenceMode(device->handle, &first), first)
SWITCH_FIELD(display_active, nvmlDeviceGetDisplayActive(device->handle, &first), first)
SWITCH_FIELD(display_mode, nvmlDeviceGetDisplayMode(device->handle, &first), first)
SWITCH_FIELD(ecc, nvmlDeviceGetEccMode(device->handle, &first, &second), first)
SWITCH_FIELD(ecc_pending, nvmlDeviceGetEccMode(device->handle, &first, &second), second)
SWITCH_FIELD(mig, nvmlDeviceGetMigMode(device->handle, (unsigned *)&first, (unsigned *)&second), first)
SWITCH_FIELD(mig_pending, nvmlDeviceGetMigMode(device->handle, (unsigned *)&first, (unsigned *)&second), second)
ECC_FIELD(corrected, 0, 0)
ECC_FIELD(uncorrected, 1, 0)
ECC_FIELD(corrected_ever, 0, 1)
ECC_FIELD(uncorrected_ever, 1, 1)

static nvmlReturn_t read_bus_id(const struct device *device, char *to)
{
    nvmlPciInfo_t pci = { .busId = "" };
    nvmlReturn_t result = nvml.nvmlDeviceGetPciInfo_v3(device->handle, &pci);
    strcpy(to, pci.busId);
    return result;
}

static nvmlReturn_t read_device_id(const struct device *device, char *to)
{
    nvmlPciInfo_t pci = { .pciDeviceId = 0 };
    nvmlReturn_t result = nvml.nvmlDeviceGetPciInfo_v3(device->handle, &pci);
    snprintf(to, TEXT_SIZE, "0x%08X", pci.pciDeviceId);
    return result;
}

static nvmlReturn_t read_driver(const struct device *device, char *to)
{
    (void)device;
    return nvml.nvmlSystemGetDriverVersion(to, TEXT_SIZE);
}

static nvmlReturn_t read_count(const struct device *device, char *to)
{
    unsigned count = 0;
    (void)device;
    nvmlReturn_t result = nvml.nvmlDeviceGetCount_v2(&count);
    snprintf(to, TEXT_SIZE, "%u", count);
    return result;
}

static nvmlReturn_t read_timestamp(const struct device *device, char *to)
{
    time_t now = time(NULL);
    (void)device;
    strftime(to, TEXT_SIZE, "%Y/%m/%d %H:%M:%S.000", localtime(&now));
    return NVML_SUCCESS;
}

static nvmlReturn_t read_utilization(const struct device *device, char *to)
{
    nvmlUtilization_t utilization = { 0, 0 };
    nvmlReturn_t result = nvml.nvmlDeviceGetUtilizationRates(device->handle, &utilization);
    snprintf(to, TEXT_SIZE, "%u", utilization.gpu);
    return result;
}

static nvmlReturn_t read_memory_utilization(const struct device *device, char *to)
{
    nvmlUtilization_t utilization = { 0, 0 };
    nvmlReturn_t result = nvml.nvmlDeviceGetUtilizationRates(device->handle, &utilization);
    snprintf(to, TEXT_SIZE, "%u", utilization.memory);
    return result;
}

static nvmlReturn_t read_compute_mode(const struct device *device, char *to)
{
    static const char *const names[] = { "Default", "Exclusive_Thread", "Prohibited", "Exclusive_Process" };
    nvmlComputeMode_t mode = 0;
    nvmlReturn_t result = nvml.nvmlDeviceGetComputeMode(device->handle, &mode);
    strcpy(to, mode < 4 ? names[mode] : "Unknown");
    return result;
}

static nvmlReturn_t read_compute_capability(const struct device *device, char *to)
{
    int major = 0, minor = 0;
    nvmlReturn_t result = nvml.nvmlDeviceGetCudaComputeCapability(device->handle, &major, &minor);
    snprintf(to, TEXT_SIZE, "%d.%d", major, minor);
    return result;
}

static nvmlReturn_t read_memory_temperature(const struct device *device, char *to)
{
    nvmlFieldValue_t field = { .fieldId = 82 }; /* NVML_FI_DEV_MEMORY_TEMP */
    nvmlReturn_t result = nvml.nvmlDeviceGetFieldValues(device->handle, 1, &field);
    snprintf(to, TEXT_SIZE, "%u", field.value.uiVal);
    return result == NVML_SUCCESS ? field.nvmlReturn : result;
}

static const char *const fabric_states[] = { "N/A", "Not Started", "In Progress", "Completed" };

static nvmlReturn_t ask_fabric(const struct device *device, nvmlGpuFabricInfoV_t *fabric)
{
    *fabric = (nvmlGpuFabricInfoV_t){ .version = NVML_STRUCT_VERSION(GpuFabricInfo, 3) };
    nvmlReturn_t result = nvml.nvmlDeviceGetGpuFabricInfoV(device->handle, fabric);
    return result == NVML_SUCCESS && fabric->state == 0 ? NVML_ERROR_NOT_SUPPORTED : result;
}

static nvmlReturn_t read_fabric_state(const struct device *device, char *to)
{
    nvmlGpuFabricInfoV_t fabric;
    nvmlReturn_t result = ask_fabric(device, &fabric);
    strcpy(to, fabric.state < 4 ? fabric_states[fabric.state] : "Unknown");
    return result;
}

static nvmlReturn_t read_fabric_status(const struct device *device, char *to)
{
    nvmlGpuFabricInfoV_t fabric;
    nvmlReturn_t result = ask_fabric(device, &fabric);
    if (result == NVML_SUCCESS && fabric.state != 3)
        return NVML_ERROR_NOT_SUPPORTED; /* there is none before the registration has ended */
    strcpy(to, nvml.nvmlErrorString(fabric.status));
    return result;
}

static const struct field fields[] = {
    { "timestamp", NULL, NULL, read_timestamp },
    { "driver_version", NULL, NULL, read_driver },
    { "count", NULL, NULL, read_count },
    { "name", "gpu_name", NULL, read_name },
    { "serial", "gpu_serial", NULL, read_serial },
    { "uuid", "gpu_uuid", NULL, read_uuid },
    { "pci.bus_id", "gpu_bus_id", NULL, read_bus_id },
    { "pci.device_id", NULL, NULL, read_device_id },
    { "vbios_version", NULL, NULL, read_vbios },
    { "index", NULL, NULL, read_index },
    { "compute_cap", NULL, NULL, read_compute_capability },
    { "compute_mode", NULL, NULL, read_compute_mode },
    { "persistence_mode", NULL, NULL, read_persistence },
    { "display_active", NULL, NULL, read_display_active },
    { "display_mode", NULL, NULL, read_display_mode },
    { "pcie.link.gen.current", "pcie.link.gen.gpucurrent", NULL, read_pcie_generation },
    { "pcie.link.gen.max", NULL, NULL, read_pcie_generation_max },
    { "pcie.link.width.current", NULL, NULL, read_pcie_width },
    { "pcie.link.width.max", NULL, NULL, read_pcie_width_max },
    { "pstate", NULL, NULL, read_state },
    { "fan.speed", NULL, "%", read_fan },
    { "memory.total", NULL, "MiB", read_memory_total },
    { "memory.reserved", NULL, "MiB", read_memory_reserved },
    { "memory.used", NULL, "MiB", read_memory_used },
    { "memory.free", NULL, "MiB", read_memory_free },
    { "utilization.gpu", NULL, "%", read_utilization },
    { "utilization.memory", NULL, "%", read_memory_utilization },
    { "temperature.gpu", NULL, NULL, read_temperature },
    { "temperature.memory", NULL, NULL, read_memory_temperature },
    { "power.draw", NULL, "W", read_power },
    { "power.limit", NULL, "W", read_power_limit },
    { "enforced.power.limit", NULL, "W", read_enforced_limit },
    { "power.default_limit", NULL, "W", read_default_limit },
    { "clocks.current.graphics", "clocks.gr", "MHz", read_graphics_clock },
    { "clocks.current.sm", "clocks.sm", "MHz", read_sm_clock },
    { "clocks.current.memory", "clocks.mem", "MHz", read_memory_clock },
    { "ecc.mode.current", NULL, NULL, read_ecc },
    { "ecc.mode.pending", NULL, NULL, read_ecc_pending },
    { "ecc.errors.corrected.volatile.total", NULL, NULL, read_corrected },
    { "ecc.errors.uncorrected.volatile.total", NULL, NULL, read_uncorrected },
    { "ecc.errors.corrected.aggregate.total", NULL, NULL, read_corrected_ever },
    { "ecc.errors.uncorrected.aggregate.total", NULL, NULL, read_uncorrected_ever },
    { "mig.mode.current", NULL, NULL, read_mig },
    { "mig.mode.pending", NULL, NULL, read_mig_pending },
    { "fabric.state", NULL, NULL, read_fabric_state },
    { "fabric.status", NULL, NULL, read_fabric_status },
};

const struct field *smi_field(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        const char *names[] = { fields[i].name, fields[i].alias };
        for (int k = 0; k < 2; k++)
            if (names[k] && strlen(names[k]) == length && strncmp(names[k], name, length) == 0)
                return &fields[i];
    }
    return NULL;
}
