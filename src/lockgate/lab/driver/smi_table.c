/* nvidia-smi without options: the table of GPUs, MIG devices and processes. And -L, the list. */
#include "smi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WHOLE "+-----------------------------------------------------------------------------------------+\n"
#define COLUMNS "+-----------------------------------------+------------------------+----------------------+\n"
#define MIG_COLUMNS "+------------------+----------------------------------+-----------+-----------------------+\n"

/* The profile at the end of a MIG device's name: "3g.20gb". */
static const char *profile_in(const char *name)
{
    const char *mig = strstr(name, " MIG ");
    return mig ? mig + 5 : name;
}

static unsigned mig_device_room(nvmlDevice_t device)
{
    unsigned current = 0, pending = 0, most = 0;
    if (nvml.nvmlDeviceGetMigMode(device, &current, &pending) != NVML_SUCCESS || !current)
        return 0;
    return nvml.nvmlDeviceGetMaxMigDeviceCount(device, &most) == NVML_SUCCESS ? most : 0;
}

static void list_mig_devices(nvmlDevice_t device)
{
    for (unsigned i = 0, room = mig_device_room(device); i < room; i++) {
        nvmlDevice_t mig;
        char name[TEXT_SIZE], uuid[TEXT_SIZE];
        if (nvml.nvmlDeviceGetMigDeviceHandleByIndex(device, i, &mig) != NVML_SUCCESS ||
            nvml.nvmlDeviceGetName(mig, name, sizeof(name)) != NVML_SUCCESS ||
            nvml.nvmlDeviceGetUUID(mig, uuid, sizeof(uuid)) != NVML_SUCCESS)
            continue;
        printf("  MIG %-11s Device %2u: (UUID: %s)\n", profile_in(name), i, uuid);
    }
}

int smi_list(const struct devices *devices)
{
    for (unsigned i = 0; i < devices->count; i++) {
        const struct device *device = &devices->each[i];
        char name[TEXT_SIZE], uuid[TEXT_SIZE];
        nvmlReturn_t named = nvml.nvmlDeviceGetName(device->handle, name, sizeof(name));
        nvmlReturn_t identified = nvml.nvmlDeviceGetUUID(device->handle, uuid, sizeof(uuid));
        printf("GPU %u: %s (UUID: %s)\n", device->index, smi_or_error(named, name), smi_or_error(identified, uuid));
        list_mig_devices(device->handle);
    }
    return 0;
}

static void print_head(void)
{
    char driver[TEXT_SIZE] = "N/A", now[TEXT_SIZE], cuda_text[16];
    int cuda = 0;
    time_t seconds = time(NULL);
    (void)nvml.nvmlSystemGetDriverVersion(driver, sizeof(driver));
    (void)nvml.nvmlSystemGetCudaDriverVersion_v2(&cuda);
    snprintf(cuda_text, sizeof(cuda_text), "%d.%d", cuda / 1000, cuda % 1000 / 10);
    strftime(now, sizeof(now), "%a %b %e %H:%M:%S %Y", localtime(&seconds));
    printf("%s       \n" WHOLE, now);
    printf("| NVIDIA-SMI %-22s Driver Version: %-14s CUDA Version: %-8s |\n" COLUMNS, DRIVER_VERSION, driver, cuda_text);
    printf("| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
           "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
           "|                                         |                        |               MIG M. |\n"
           "|=========================================+========================+======================|\n");
}

static const char *compute_mode(nvmlDevice_t device)
{
    static const char *const names[] = { "Default", "E. Thread", "Prohibited", "E. Process" };
    nvmlComputeMode_t mode;
    return nvml.nvmlDeviceGetComputeMode(device, &mode) == NVML_SUCCESS && mode < 4 ? names[mode] : "N/A";
}

static const char *mig_mode(nvmlDevice_t device)
{
    unsigned current, pending;
    if (nvml.nvmlDeviceGetMigMode(device, &current, &pending) != NVML_SUCCESS)
        return "N/A";
    if (current != pending)
        return current ? "Enabled*" : "Disabled*"; /* takes effect at the next reset */
    return current ? "Enabled" : "Disabled";
}

/* One number with what stands around it, or N/A. By address, since the call that gives `result` fills it. */
static void number(char *to, nvmlReturn_t result, const char *before, const unsigned *value, const char *after)
{
    if (result == NVML_SUCCESS)
        snprintf(to, TEXT_SIZE, "%s%u%s", before, *value, after);
    else
        strcpy(to, result == NVML_ERROR_NOT_SUPPORTED ? "N/A" : "ERR!");
}

static void watts(char *to, nvmlReturn_t result, const unsigned *milliwatts)
{
    unsigned whole = *milliwatts / 1000;
    number(to, result, "", &whole, "W");
}

static void print_first_line(const struct device *device)
{
    char name[TEXT_SIZE] = "ERR!", errors_text[TEXT_SIZE];
    nvmlPciInfo_t pci = { .busId = "N/A" };
    nvmlEnableState_t persistence = 0;
    unsigned long long errors = 0;
    unsigned shown;
    (void)nvml.nvmlDeviceGetName(device->handle, name, sizeof(name));
    (void)nvml.nvmlDeviceGetPciInfo_v3(device->handle, &pci);
    (void)nvml.nvmlDeviceGetPersistenceMode(device->handle, &persistence);
    nvmlReturn_t counted = nvml.nvmlDeviceGetTotalEccErrors(device->handle, 1, 0, &errors);
    shown = (unsigned)errors;
    number(errors_text, counted, "", &shown, "");
    printf("| %3u  %-29.29s %3s  |   %16s Off | %20s |\n", device->index, name, persistence ? "On" : "Off", pci.busId,
           errors_text);
}

static void print_second_line(const struct device *device)
{
    char temperature[TEXT_SIZE], state[TEXT_SIZE], power[TEXT_SIZE], limit[TEXT_SIZE], load[TEXT_SIZE];
    char used[TEXT_SIZE] = "ERR!", total[TEXT_SIZE] = "ERR!";
    nvmlMemory_v2_t memory = { .version = NVML_STRUCT_VERSION(Memory, 2) };
    nvmlUtilization_t utilization = { 0, 0 };
    nvmlPstates_t performance = 0;
    unsigned value = 0;
    number(temperature, nvml.nvmlDeviceGetTemperature(device->handle, 0, &value), "", &value, "C");
    number(state, nvml.nvmlDeviceGetPerformanceState(device->handle, &performance), "P", (unsigned *)&performance, "");
    watts(power, nvml.nvmlDeviceGetPowerUsage(device->handle, &value), &value);
    watts(limit, nvml.nvmlDeviceGetEnforcedPowerLimit(device->handle, &value), &value);
    number(load, nvml.nvmlDeviceGetUtilizationRates(device->handle, &utilization), "", &utilization.gpu, "%");
    if (nvml.nvmlDeviceGetMemoryInfo_v2(device->handle, &memory) == NVML_SUCCESS) {
        snprintf(used, sizeof(used), "%lluMiB", memory.used / MIB);
        snprintf(total, sizeof(total), "%lluMiB", memory.total / MIB);
    }
    printf("| N/A%6.6s    %-3.3s%15.15s / %5.5s |%11.11s / %9.9s |%8.8s %12.12s |\n", temperature, state, power, limit,
           used, total, load, compute_mode(device->handle));
}

static void print_gpu(const struct device *device)
{
    print_first_line(device);
    print_second_line(device);
    printf("|                                         |                        | %20s |\n" COLUMNS,
           mig_mode(device->handle));
}

static void print_mig_device(const struct device *device, unsigned index, nvmlDevice_t mig)
{
    unsigned gpu_instance = 0, compute_instance = 0;
    nvmlMemory_v2_t memory = { .version = NVML_STRUCT_VERSION(Memory, 2) };
    nvmlBAR1Memory_t bar1 = { 0, 0, 0 };
    nvmlDeviceAttributes_t has = { 0 };
    (void)nvml.nvmlDeviceGetGpuInstanceId(mig, &gpu_instance);
    (void)nvml.nvmlDeviceGetComputeInstanceId(mig, &compute_instance);
    (void)nvml.nvmlDeviceGetMemoryInfo_v2(mig, &memory);
    (void)nvml.nvmlDeviceGetBAR1MemoryInfo(mig, &bar1);
    (void)nvml.nvmlDeviceGetAttributes_v2(mig, &has);
    printf("| %2u %4u %3u %3u  | %15lluMiB / %5lluMiB    | %2u      0 | %2u %3u %4u %4u %4u |\n", device->index,
           gpu_instance, compute_instance, index, memory.used / MIB, memory.total / MIB, has.multiprocessorCount,
           has.sharedCopyEngineCount, has.sharedEncoderCount, has.sharedDecoderCount, has.sharedOfaCount,
           has.sharedJpegCount);
    printf("|                  | %15lluMiB / %5lluMiB    |           |                       |\n" MIG_COLUMNS,
           bar1.bar1Used / MIB, bar1.bar1Total / MIB);
}

static void print_mig_devices(const struct devices *devices)
{
    bool headed = false;
    for (unsigned i = 0; i < devices->count; i++)
        for (unsigned k = 0, room = mig_device_room(devices->each[i].handle); k < room; k++) {
            nvmlDevice_t mig;
            if (nvml.nvmlDeviceGetMigDeviceHandleByIndex(devices->each[i].handle, k, &mig) != NVML_SUCCESS)
                continue;
            if (!headed)
                printf("\n" WHOLE "| MIG devices:                                                                            |\n"
                       MIG_COLUMNS
                       "| GPU  GI  CI  MIG |              Shared Memory-Usage |        Vol|        Shared         |\n"
                       "|      ID  ID  Dev |                Shared BAR1-Usage | SM     Unc| CE ENC  DEC  OFA  JPG |\n"
                       "|                  |                                  |        ECC|                       |\n"
                       "|==================+==================================+===========+=======================|\n");
            headed = true;
            print_mig_device(&devices->each[i], k, mig);
        }
}

typedef __typeof__(nvmlDeviceGetComputeRunningProcesses_v3) list_processes;

static void print_instance(char *to, unsigned instance)
{
    if (instance == 0xFFFFFFFFU)
        strcpy(to, "N/A");
    else
        snprintf(to, TEXT_SIZE, "%u", instance);
}

/* The end of a name that is too long says more than its start. */
static const char *shortened(char *name, size_t width)
{
    size_t length = strlen(name);
    if (length <= width)
        return name;
    memcpy(name + length - width, "...", 3);
    return name + length - width;
}

static unsigned print_processes_of(const struct device *device, list_processes *list, char type)
{
    nvmlProcessInfo_t processes[512];
    unsigned count = sizeof(processes) / sizeof(*processes);
    if (list(device->handle, &count, processes) != NVML_SUCCESS)
        return 0;
    for (unsigned i = 0; i < count; i++) {
        char name[TEXT_SIZE] = "[Not Found]", gpu_instance[TEXT_SIZE], compute_instance[TEXT_SIZE];
        (void)nvml.nvmlSystemGetProcessName(processes[i].pid, name, sizeof(name));
        print_instance(gpu_instance, processes[i].gpuInstanceId);
        print_instance(compute_instance, processes[i].computeInstanceId);
        printf("|%5u   %-3.3s  %-3.3s%16u%7c   %-35s%8lluMiB |\n", device->index, gpu_instance, compute_instance,
               processes[i].pid, type, shortened(name, 34), processes[i].usedGpuMemory / MIB);
    }
    return count;
}

static void print_processes(const struct devices *devices)
{
    unsigned shown = 0;
    printf("\n" WHOLE
           "| Processes:                                                                              |\n"
           "|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |\n"
           "|        ID   ID                                                               Usage      |\n"
           "|=========================================================================================|\n");
    for (unsigned i = 0; i < devices->count; i++) {
        shown += print_processes_of(&devices->each[i], nvml.nvmlDeviceGetComputeRunningProcesses_v3, 'C');
        shown += print_processes_of(&devices->each[i], nvml.nvmlDeviceGetGraphicsRunningProcesses_v3, 'G');
    }
    if (!shown)
        printf("|  No running processes found                                                             |\n");
    printf(WHOLE);
}

int smi_table(const struct devices *devices)
{
    print_head();
    for (unsigned i = 0; i < devices->count; i++)
        print_gpu(&devices->each[i]);
    print_mig_devices(devices);
    print_processes(devices);
    return 0;
}
