/* nvidia-smi -q: everything about each GPU, as indented lines. */
#include "smi.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static void line(int depth, const char *name, const char *value)
{
    int indent = 4 * depth;
    if (value)
        printf("%*s%-*s: %s\n", indent, "", 50 - indent, name, value);
    else
        printf("%*s%s\n", indent, "", name);
}

static void number(int depth, const char *name, nvmlReturn_t result, unsigned long long value, const char *unit)
{
    char text[TEXT_SIZE];
    snprintf(text, sizeof(text), "%llu%s", value, unit);
    line(depth, name, smi_or_error(result, text));
}

static void watts(int depth, const char *name, nvmlReturn_t result, unsigned milliwatts)
{
    char text[TEXT_SIZE];
    snprintf(text, sizeof(text), "%.2f W", milliwatts / 1000.0);
    line(depth, name, smi_or_error(result, text));
}

static const char *enabled(nvmlReturn_t result, unsigned state)
{
    return smi_or_error(result, state ? "Enabled" : "Disabled");
}

static void report_identity(nvmlDevice_t device)
{
    static const char *const architectures[] = { "Unknown", "Unknown", "Kepler", "Maxwell", "Pascal", "Volta", "Turing",
                                                 "Ampere", "Ada Lovelace", "Hopper", "Blackwell" };
    char text[TEXT_SIZE];
    unsigned value = 0, pending = 0;
    nvmlEnableState_t state = 0;
    line(1, "Product Name", smi_or_error(nvml.nvmlDeviceGetName(device, text, sizeof(text)), text));
    nvmlReturn_t result = nvml.nvmlDeviceGetArchitecture(device, &value);
    line(1, "Product Architecture", smi_or_error(result, value < 11 ? architectures[value] : "Unknown"));
    result = nvml.nvmlDeviceGetDisplayMode(device, &state);
    line(1, "Display Mode", enabled(result, state));
    result = nvml.nvmlDeviceGetPersistenceMode(device, &state);
    line(1, "Persistence Mode", enabled(result, state));
    result = nvml.nvmlDeviceGetMigMode(device, &value, &pending);
    line(1, "MIG Mode", NULL);
    line(2, "Current", enabled(result, value));
    line(2, "Pending", enabled(result, pending));
    line(1, "Serial Number", smi_or_error(nvml.nvmlDeviceGetSerial(device, text, sizeof(text)), text));
    line(1, "GPU UUID", smi_or_error(nvml.nvmlDeviceGetUUID(device, text, sizeof(text)), text));
    result = nvml.nvmlDeviceGetMinorNumber(device, &value);
    number(1, "Minor Number", result, value, "");
    line(1, "VBIOS Version", smi_or_error(nvml.nvmlDeviceGetVbiosVersion(device, text, sizeof(text)), text));
    line(1, "Board Part Number", smi_or_error(nvml.nvmlDeviceGetBoardPartNumber(device, text, sizeof(text)), text));
    line(1, "GSP Firmware Version", smi_or_error(nvml.nvmlDeviceGetGspFirmwareVersion(device, text), text));
}

static void report_pci(nvmlDevice_t device)
{
    nvmlPciInfo_t pci = { .busId = "" };
    unsigned value = 0;
    char text[TEXT_SIZE];
    nvmlReturn_t result = nvml.nvmlDeviceGetPciInfo_v3(device, &pci);
    line(1, "PCI", NULL);
    snprintf(text, sizeof(text), "0x%02X", pci.bus);
    line(2, "Bus", smi_or_error(result, text));
    snprintf(text, sizeof(text), "0x%08X", pci.pciDeviceId);
    line(2, "Device Id", smi_or_error(result, text));
    line(2, "Bus Id", smi_or_error(result, pci.busId));
    result = nvml.nvmlDeviceGetPcieReplayCounter(device, &value);
    number(2, "Replays Since Reset", result, value, "");
}

static void report_fabric(nvmlDevice_t device)
{
    static const char *const states[] = { "N/A", "Not Started", "In Progress", "Completed" };
    nvmlGpuFabricInfoV_t fabric = { .version = NVML_STRUCT_VERSION(GpuFabricInfo, 3) };
    nvmlReturn_t result = nvml.nvmlDeviceGetGpuFabricInfoV(device, &fabric);
    char uuid[40] = "";
    bool known = result == NVML_SUCCESS && fabric.state > 0, completed = known && fabric.state == 3;
    for (int i = 0; i < 16; i++)
        snprintf(uuid + strlen(uuid), sizeof(uuid) - strlen(uuid), "%02x%s", fabric.clusterUuid[i],
                 i == 3 || i == 5 || i == 7 || i == 9 ? "-" : "");
    line(1, "Fabric", NULL);
    line(2, "State", known && fabric.state < 4 ? states[fabric.state] : smi_or_error(result, "N/A"));
    line(2, "Status", completed ? nvml.nvmlErrorString(fabric.status) : "N/A");
    number(2, "CliqueId", completed ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED, fabric.cliqueId, "");
    line(2, "ClusterUUID", completed ? uuid : "N/A");
}

static void report_memory(nvmlDevice_t device)
{
    nvmlMemory_v2_t memory = { .version = NVML_STRUCT_VERSION(Memory, 2) };
    nvmlBAR1Memory_t bar1 = { 0, 0, 0 };
    nvmlUtilization_t load = { 0, 0 };
    nvmlReturn_t result = nvml.nvmlDeviceGetMemoryInfo_v2(device, &memory);
    line(1, "FB Memory Usage", NULL);
    number(2, "Total", result, memory.total / MIB, " MiB");
    number(2, "Reserved", result, memory.reserved / MIB, " MiB");
    number(2, "Used", result, memory.used / MIB, " MiB");
    number(2, "Free", result, memory.free / MIB, " MiB");
    result = nvml.nvmlDeviceGetBAR1MemoryInfo(device, &bar1);
    line(1, "BAR1 Memory Usage", NULL);
    number(2, "Total", result, bar1.bar1Total / MIB, " MiB");
    number(2, "Used", result, bar1.bar1Used / MIB, " MiB");
    number(2, "Free", result, bar1.bar1Free / MIB, " MiB");
    result = nvml.nvmlDeviceGetUtilizationRates(device, &load);
    line(1, "Utilization", NULL);
    number(2, "GPU", result, load.gpu, " %");
    number(2, "Memory", result, load.memory, " %");
}

static void report_errors(nvmlDevice_t device)
{
    nvmlEnableState_t current = 0, pending = 0;
    unsigned corrected = 0, uncorrected = 0, waiting = 0, failed = 0;
    unsigned long long count = 0;
    nvmlReturn_t result = nvml.nvmlDeviceGetEccMode(device, &current, &pending);
    line(1, "ECC Mode", NULL);
    line(2, "Current", enabled(result, current));
    line(2, "Pending", enabled(result, pending));
    line(1, "ECC Errors", NULL);
    for (int counter = 0; counter < 2; counter++) {
        line(2, counter ? "Aggregate" : "Volatile", NULL);
        result = nvml.nvmlDeviceGetTotalEccErrors(device, 0, (nvmlEccCounterType_t)counter, &count);
        number(3, "DRAM Correctable", result, count, "");
        result = nvml.nvmlDeviceGetTotalEccErrors(device, 1, (nvmlEccCounterType_t)counter, &count);
        number(3, "DRAM Uncorrectable", result, count, "");
    }
    result = nvml.nvmlDeviceGetRetiredPagesPendingStatus(device, &pending);
    line(1, "Retired Pages", NULL);
    line(2, "Pending Page Blacklist", smi_or_error(result, pending ? "Yes" : "No"));
    result = nvml.nvmlDeviceGetRemappedRows(device, &corrected, &uncorrected, &waiting, &failed);
    line(1, "Remapped Rows", result == NVML_SUCCESS ? NULL : smi_or_error(result, ""));
    if (result != NVML_SUCCESS)
        return;
    number(2, "Correctable Error", result, corrected, "");
    number(2, "Uncorrectable Error", result, uncorrected, "");
    line(2, "Pending", waiting ? "Yes" : "No");
    line(2, "Remapping Failure Occurred", failed ? "Yes" : "No");
}

static void report_limits(nvmlDevice_t device)
{
    unsigned value = 0, most = 0;
    nvmlReturn_t result = nvml.nvmlDeviceGetTemperature(device, 0, &value);
    line(1, "Temperature", NULL);
    number(2, "GPU Current Temp", result, value, " C");
    result = nvml.nvmlDeviceGetTemperatureThreshold(device, 0, &value);
    number(2, "GPU Shutdown Temp", result, value, " C");
    result = nvml.nvmlDeviceGetTemperatureThreshold(device, 1, &value);
    number(2, "GPU Slowdown Temp", result, value, " C");
    line(1, "GPU Power Readings", NULL);
    result = nvml.nvmlDeviceGetPowerUsage(device, &value);
    watts(2, "Instantaneous Power Draw", result, value);
    result = nvml.nvmlDeviceGetEnforcedPowerLimit(device, &value);
    watts(2, "Current Power Limit", result, value);
    result = nvml.nvmlDeviceGetPowerManagementDefaultLimit(device, &value);
    watts(2, "Default Power Limit", result, value);
    result = nvml.nvmlDeviceGetPowerManagementLimitConstraints(device, &value, &most);
    watts(2, "Min Power Limit", result, value);
    watts(2, "Max Power Limit", result, most);
    line(1, "Clocks", NULL);
    static const char *const clocks[] = { "Graphics", "SM", "Memory", "Video" };
    for (int i = 0; i < 4; i++) {
        result = nvml.nvmlDeviceGetClockInfo(device, (nvmlClockType_t)i, &value);
        number(2, clocks[i], result, value, " MHz");
    }
}

static void report_processes(nvmlDevice_t device)
{
    nvmlProcessInfo_t processes[512];
    unsigned count = sizeof(processes) / sizeof(*processes);
    nvmlReturn_t result = nvml.nvmlDeviceGetComputeRunningProcesses_v3(device, &count, processes);
    if (result != NVML_SUCCESS || count == 0) {
        line(1, "Processes", result == NVML_SUCCESS ? "None" : smi_or_error(result, ""));
        return;
    }
    line(1, "Processes", NULL);
    for (unsigned i = 0; i < count; i++) {
        char name[TEXT_SIZE] = "[Not Found]";
        number(2, "Process ID", NVML_SUCCESS, processes[i].pid, "");
        (void)nvml.nvmlSystemGetProcessName(processes[i].pid, name, sizeof(name));
        line(3, "Type", "C");
        line(3, "Name", name);
        number(3, "Used GPU Memory", NVML_SUCCESS, processes[i].usedGpuMemory / MIB, " MiB");
    }
}

int smi_report(const struct devices *devices)
{
    char text[TEXT_SIZE];
    int cuda = 0;
    time_t seconds = time(NULL);
    strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", localtime(&seconds));
    printf("\n==============NVSMI LOG==============\n\n");
    line(0, "Timestamp", text);
    line(0, "Driver Version", smi_or_error(nvml.nvmlSystemGetDriverVersion(text, sizeof(text)), text));
    (void)nvml.nvmlSystemGetCudaDriverVersion_v2(&cuda);
    snprintf(text, sizeof(text), "%d.%d", cuda / 1000, cuda % 1000 / 10);
    line(0, "CUDA Version", text);
    printf("\n");
    number(0, "Attached GPUs", NVML_SUCCESS, devices->count, "");
    for (unsigned i = 0; i < devices->count; i++) {
        nvmlDevice_t device = devices->each[i].handle;
        nvmlPciInfo_t pci = { .busId = "Unknown" };
        (void)nvml.nvmlDeviceGetPciInfo_v3(device, &pci);
        printf("GPU %s\n", pci.busId);
        report_identity(device);
        report_pci(device);
        report_fabric(device);
        report_memory(device);
        report_errors(device);
        report_limits(device);
        report_processes(device);
        printf("\n");
    }
    return 0;
}
