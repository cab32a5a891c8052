/*
 * Calls every function of the simulated NVML and CUDA libraries, from several threads, with good handles and with bad
 * ones. What they answer is not the question here; compiled with sanitizers, this finds what is read or written out of
 * bounds, leaked, or left undefined. Prints how many calls succeeded.
 *
 *   storm ROUNDS
 */
#define _POSIX_C_SOURCE 200809L

#include "cuda.h"
#include "nvml.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4

static atomic_int succeeded;

static void count(int result)
{
    if (result == 0)
        succeeded++;
}

#define DO(call) count((int)(call))

static void storm_system(void)
{
    char text[80], tiny[1];
    unsigned number;
    int version;
    nvmlSystemDriverBranchInfo_t branch = { .version = NVML_STRUCT_VERSION(SystemDriverBranchInfo, 1) };
    DO(nvmlSystemGetDriverVersion(text, sizeof(text)));
    DO(nvmlSystemGetDriverVersion(tiny, sizeof(tiny)));
    DO(nvmlSystemGetDriverVersion(NULL, 80));
    DO(nvmlSystemGetNVMLVersion(text, sizeof(text)));
    DO(nvmlSystemGetCudaDriverVersion(&version));
    DO(nvmlSystemGetCudaDriverVersion_v2(NULL));
    DO(nvmlSystemGetDriverBranch(&branch, sizeof(branch.branch)));
    DO(nvmlSystemGetProcessName(1, text, sizeof(text)));
    DO(nvmlDeviceGetCount(&number));
    DO(nvmlUnitGetCount(&number));
    DO(nvmlGetExcludedDeviceCount(&number));
    for (int code = -2; code < 40; code++)
        if (strlen(nvmlErrorString((nvmlReturn_t)code)) == 0)
            abort();
}

#define ASK(function, type)            \
    do {                               \
        type value = { 0 };            \
        DO(function(device, &value));  \
        DO(function(device, NULL));    \
    } while (0)
#define ASK_TEXT(function)                         \
    do {                                           \
        char text[96], tiny[2];                    \
        DO(function(device, text, sizeof(text)));  \
        DO(function(device, tiny, sizeof(tiny)));  \
        DO(function(device, tiny, 0));             \
    } while (0)
#define ASK_WITH(function, type, argument)               \
    do {                                                 \
        type value = { 0 };                              \
        DO(function(device, argument, &value));          \
        DO(function(device, argument, NULL));            \
    } while (0)
#define ASK_TWO(function)                    \
    do {                                     \
        unsigned one, two;                   \
        DO(function(device, &one, &two));    \
        DO(function(device, NULL, &two));    \
    } while (0)

static void storm_identity(nvmlDevice_t device)
{
    int major, minor;
    unsigned long nodes[2];
    char firmware[80];
    nvmlPciInfoExt_t extended = { .version = NVML_STRUCT_VERSION(PciInfoExt, 1) };
    nvmlMemory_v2_t memory = { .version = NVML_STRUCT_VERSION(Memory, 2) };
    ASK_TEXT(nvmlDeviceGetName);
    ASK_TEXT(nvmlDeviceGetUUID);
    ASK_TEXT(nvmlDeviceGetSerial);
    ASK_TEXT(nvmlDeviceGetBoardPartNumber);
    ASK_TEXT(nvmlDeviceGetVbiosVersion);
    ASK_TEXT(nvmlDeviceGetInforomImageVersion);
    ASK(nvmlDeviceGetBrand, nvmlBrandType_t);
    ASK(nvmlDeviceGetIndex, unsigned);
    ASK(nvmlDeviceGetMinorNumber, unsigned);
    ASK(nvmlDeviceGetModuleId, unsigned);
    ASK(nvmlDeviceGetBoardId, unsigned);
    ASK(nvmlDeviceGetMultiGpuBoard, unsigned);
    ASK(nvmlDeviceGetArchitecture, nvmlDeviceArchitecture_t);
    ASK(nvmlDeviceGetNumGpuCores, unsigned);
    ASK(nvmlDeviceGetMemoryBusWidth, unsigned);
    ASK(nvmlDeviceGetNumaNodeId, unsigned);
    ASK(nvmlDeviceGetBusType, nvmlBusType_t);
    ASK(nvmlDeviceGetIrqNum, unsigned);
    ASK(nvmlDeviceGetDisplayMode, nvmlEnableState_t);
    ASK(nvmlDeviceGetDisplayActive, nvmlEnableState_t);
    ASK(nvmlDeviceGetVirtualizationMode, nvmlGpuVirtualizationMode_t);
    ASK(nvmlDeviceGetPersistenceMode, nvmlEnableState_t);
    ASK(nvmlDeviceGetComputeMode, nvmlComputeMode_t);
    ASK(nvmlDeviceGetPciInfo_v3, nvmlPciInfo_t);
    ASK(nvmlDeviceGetMemoryInfo, nvmlMemory_t);
    ASK(nvmlDeviceGetBAR1MemoryInfo, nvmlBAR1Memory_t);
    ASK_TWO(nvmlDeviceGetGspFirmwareMode);
    DO(nvmlDeviceGetCudaComputeCapability(device, &major, &minor));
    DO(nvmlDeviceGetGspFirmwareVersion(device, firmware));
    DO(nvmlDeviceGetMemoryAffinity(device, 2, nodes, 0));
    DO(nvmlDeviceGetMemoryAffinity(device, 0, nodes, 0));
    DO(nvmlDeviceGetPciInfoExt(device, &extended));
    DO(nvmlDeviceGetMemoryInfo_v2(device, &memory));
    DO(nvmlDeviceSetPersistenceMode(device, NVML_FEATURE_ENABLED));
    DO(nvmlDeviceSetComputeMode(device, NVML_COMPUTEMODE_DEFAULT));
}

static void storm_power(nvmlDevice_t device)
{
    unsigned one = 0, two = 0;
    nvmlTemperature_t temperature = { .version = NVML_STRUCT_VERSION(Temperature, 1) };
    nvmlGpmSupport_t gpm = { .version = 1 };
    nvmlMarginTemperature_t margin = { .version = NVML_STRUCT_VERSION(MarginTemperature, 1) };
    ASK_WITH(nvmlDeviceGetTemperature, unsigned, NVML_TEMPERATURE_GPU);
    for (int threshold = 0; threshold < 9; threshold++)
        ASK_WITH(nvmlDeviceGetTemperatureThreshold, unsigned, (nvmlTemperatureThresholds_t)threshold);
    ASK(nvmlDeviceGetNumFans, unsigned);
    ASK(nvmlDeviceGetFanSpeed, unsigned);
    ASK_WITH(nvmlDeviceGetFanSpeed_v2, unsigned, 0);
    ASK(nvmlDeviceGetPowerManagementMode, nvmlEnableState_t);
    ASK(nvmlDeviceGetPowerUsage, unsigned);
    ASK(nvmlDeviceGetPowerManagementLimit, unsigned);
    ASK(nvmlDeviceGetEnforcedPowerLimit, unsigned);
    ASK(nvmlDeviceGetPowerManagementDefaultLimit, unsigned);
    ASK(nvmlDeviceGetPowerSource, nvmlPowerSource_t);
    ASK(nvmlDeviceGetTotalEnergyConsumption, unsigned long long);
    ASK(nvmlDeviceGetPerformanceState, nvmlPstates_t);
    ASK(nvmlDeviceGetPowerState, nvmlPstates_t);
    ASK(nvmlDeviceGetCurrentClocksEventReasons, unsigned long long);
    ASK(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long);
    ASK(nvmlDeviceGetSupportedClocksEventReasons, unsigned long long);
    ASK(nvmlDeviceGetSupportedClocksThrottleReasons, unsigned long long);
    ASK(nvmlDeviceGetUtilizationRates, nvmlUtilization_t);
    for (int type = 0; type < 5; type++) {
        ASK_WITH(nvmlDeviceGetClockInfo, unsigned, (nvmlClockType_t)type);
        ASK_WITH(nvmlDeviceGetMaxClockInfo, unsigned, (nvmlClockType_t)type);
        ASK_WITH(nvmlDeviceGetApplicationsClock, unsigned, (nvmlClockType_t)type);
        ASK_WITH(nvmlDeviceGetDefaultApplicationsClock, unsigned, (nvmlClockType_t)type);
        ASK_WITH(nvmlDeviceGetMaxCustomerBoostClock, unsigned, (nvmlClockType_t)type);
        DO(nvmlDeviceGetClock(device, (nvmlClockType_t)type, NVML_CLOCK_ID_CURRENT, &one));
    }
    ASK_TWO(nvmlDeviceGetEncoderUtilization);
    ASK_TWO(nvmlDeviceGetDecoderUtilization);
    ASK_TWO(nvmlDeviceGetJpgUtilization);
    ASK_TWO(nvmlDeviceGetOfaUtilization);
    one = 1;
    DO(nvmlDeviceGetSupportedMemoryClocks(device, &one, &two));
    DO(nvmlDeviceGetSupportedGraphicsClocks(device, two, &one, NULL));
    DO(nvmlGpmQueryDeviceSupport(device, &gpm));
    ASK_TWO(nvmlDeviceGetPowerManagementLimitConstraints);
    if (nvmlDeviceGetPowerManagementLimitConstraints(device, &one, &two) == NVML_SUCCESS)
        DO(nvmlDeviceSetPowerManagementLimit(device, two));
    DO(nvmlDeviceSetPowerManagementLimit(device, 1));
    DO(nvmlDeviceGetTemperatureV(device, &temperature));
    DO(nvmlDeviceGetMarginTemperature(device, &margin));
    ASK_WITH(nvmlDeviceGetViolationStatus, nvmlViolationTime_t, NVML_PERF_POLICY_POWER);
}

static void storm_health(nvmlDevice_t device)
{
    unsigned rows[4], pages = 4;
    unsigned long long value, addresses[4], times[4];
    nvmlFieldValue_t fields[3] = { { .fieldId = 82 }, { .fieldId = 91 }, { .fieldId = 4711 } };
    ASK(nvmlDeviceGetDefaultEccMode, nvmlEnableState_t);
    nvmlEnableState_t current, pending;
    DO(nvmlDeviceGetEccMode(device, &current, &pending));
    DO(nvmlDeviceGetTotalEccErrors(device, NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_AGGREGATE_ECC, &value));
    DO(nvmlDeviceGetMemoryErrorCounter(device, NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_VOLATILE_ECC,
                                       NVML_MEMORY_LOCATION_L1_CACHE, &value));
    ASK(nvmlDeviceGetRetiredPagesPendingStatus, nvmlEnableState_t);
    DO(nvmlDeviceGetRemappedRows(device, &rows[0], &rows[1], &rows[2], &rows[3]));
    ASK(nvmlDeviceGetRowRemapperHistogram, nvmlRowRemapperHistogramValues_t);
    DO(nvmlDeviceGetRetiredPages_v2(device, 1, &pages, addresses, times));
    pages = 0;
    DO(nvmlDeviceGetRetiredPages(device, 1, &pages, NULL));
    DO(nvmlDeviceGetFieldValues(device, 3, fields));
    DO(nvmlDeviceGetFieldValues(device, -1, fields));
}

static void storm_links(nvmlDevice_t device, nvmlDevice_t other)
{
    unsigned long long value;
    nvmlGpuTopologyLevel_t level;
    nvmlGpuP2PStatus_t status;
    int same;
    unsigned capability;
    nvmlGpuFabricInfo_v2_t second = { .version = NVML_STRUCT_VERSION(GpuFabricInfo, 2) };
    nvmlGpuFabricInfo_v3_t third = { .version = NVML_STRUCT_VERSION(GpuFabricInfo, 3) };
    ASK(nvmlDeviceGetMaxPcieLinkGeneration, unsigned);
    ASK(nvmlDeviceGetGpuMaxPcieLinkGeneration, unsigned);
    ASK(nvmlDeviceGetMaxPcieLinkWidth, unsigned);
    ASK(nvmlDeviceGetCurrPcieLinkGeneration, unsigned);
    ASK(nvmlDeviceGetCurrPcieLinkWidth, unsigned);
    ASK(nvmlDeviceGetPcieReplayCounter, unsigned);
    ASK_WITH(nvmlDeviceGetPcieThroughput, unsigned, NVML_PCIE_UTIL_TX_BYTES);
    for (unsigned link = 0; link < 19; link += 6) {
        ASK_WITH(nvmlDeviceGetNvLinkState, nvmlEnableState_t, link);
        ASK_WITH(nvmlDeviceGetNvLinkVersion, unsigned, link);
        ASK_WITH(nvmlDeviceGetNvLinkRemoteDeviceType, nvmlIntNvLinkDeviceType_t, link);
        ASK_WITH(nvmlDeviceGetNvLinkRemotePciInfo_v2, nvmlPciInfo_t, link);
        DO(nvmlDeviceGetNvLinkCapability(device, link, NVML_NVLINK_CAP_P2P_SUPPORTED, &capability));
        DO(nvmlDeviceGetNvLinkErrorCounter(device, link, NVML_NVLINK_ERROR_DL_REPLAY, &value));
    }
    DO(nvmlDeviceGetTopologyCommonAncestor(device, other, &level));
    DO(nvmlDeviceGetP2PStatus(device, other, NVML_P2P_CAPS_INDEX_READ, &status));
    DO(nvmlDeviceOnSameBoard(device, other, &same));
    ASK(nvmlDeviceGetPcieLinkMaxSpeed, unsigned);
    ASK(nvmlDeviceGetPcieSpeed, unsigned);
    unsigned long processors[1];
    nvmlDevice_t near[2];
    unsigned count_near = 2;
    DO(nvmlDeviceGetCpuAffinity(device, 1, processors));
    DO(nvmlDeviceGetTopologyNearestGpus(device, (nvmlGpuTopologyLevel_t)10, &count_near, near));
    DO(nvmlDeviceGetTopologyNearestGpus(device, (nvmlGpuTopologyLevel_t)10, &count_near, NULL));
    ASK(nvmlDeviceGetGpuFabricInfo, nvmlGpuFabricInfo_t);
    DO(nvmlDeviceGetGpuFabricInfoV(device, (nvmlGpuFabricInfoV_t *)(void *)&second));
    DO(nvmlDeviceGetGpuFabricInfoV(device, &third));
}

static void storm_processes(nvmlDevice_t device)
{
    nvmlProcessInfo_v1_t first[2];
    nvmlProcessInfo_v2_t second[8];
    nvmlProcessUtilizationSample_t samples[2];
    unsigned room = 2;
    DO(nvmlDeviceGetComputeRunningProcesses(device, &room, first));
    room = 8;
    DO(nvmlDeviceGetComputeRunningProcesses_v2(device, &room, second));
    room = 0;
    DO(nvmlDeviceGetComputeRunningProcesses_v3(device, &room, NULL));
    room = 8;
    DO(nvmlDeviceGetGraphicsRunningProcesses_v3(device, &room, second));
    room = 8;
    DO(nvmlDeviceGetMPSComputeRunningProcesses_v3(device, &room, second));
    room = 2;
    DO(nvmlDeviceGetProcessUtilization(device, samples, &room, 0));
    room = 2;
    DO(nvmlDeviceGetProcessUtilization(device, NULL, &room, 0));
}

static void storm_compute_instances(nvmlGpuInstance_t gpu_instance)
{
    nvmlComputeInstance_t instances[64], created;
    nvmlComputeInstancePlacement_t places[8], place = { 0, 1 };
    nvmlComputeInstanceInfo_t info;
    nvmlComputeInstanceProfileInfo_t profile;
    nvmlComputeInstanceProfileInfo_v2_t second = { .version = NVML_STRUCT_VERSION(ComputeInstanceProfileInfo, 2) };
    nvmlComputeInstanceProfileInfo_v3_t third = { .version = NVML_STRUCT_VERSION(ComputeInstanceProfileInfo, 3) };
    unsigned number;
    DO(nvmlGpuInstanceGetComputeInstanceProfileInfo(gpu_instance, 0, 0, &profile));
    DO(nvmlGpuInstanceGetComputeInstanceProfileInfoV(gpu_instance, 0, 0, &second));
    DO(nvmlGpuInstanceGetComputeInstanceProfileInfoV(gpu_instance, 0, 0,
                                                     (nvmlComputeInstanceProfileInfo_v2_t *)(void *)&third));
    DO(nvmlGpuInstanceGetComputeInstanceRemainingCapacity(gpu_instance, 0, &number));
    DO(nvmlGpuInstanceGetComputeInstancePossiblePlacements(gpu_instance, 0, NULL, &number));
    if (number <= 8)
        DO(nvmlGpuInstanceGetComputeInstancePossiblePlacements(gpu_instance, 0, places, &number));
    DO(nvmlGpuInstanceCreateComputeInstanceWithPlacement(gpu_instance, 0, &place, &created));
    DO(nvmlGpuInstanceCreateComputeInstance(gpu_instance, 0, &created));
    for (unsigned id = 0; id < 3; id++) {
        if (nvmlGpuInstanceGetComputeInstanceById(gpu_instance, id, &created) != NVML_SUCCESS)
            continue;
        DO(nvmlComputeInstanceGetInfo_v2(created, &info));
        DO(nvmlComputeInstanceDestroy(created));
    }
    DO(nvmlGpuInstanceGetComputeInstances(gpu_instance, 0, instances, &number));
}

static void storm_mig(nvmlDevice_t device)
{
    nvmlReturn_t activation;
    nvmlDevice_t mig, parent;
    nvmlGpuInstance_t created = NULL, instances[64];
    nvmlGpuInstancePlacement_t places[16], place = { 0, 1 };
    nvmlGpuInstanceInfo_t info;
    nvmlGpuInstanceProfileInfo_t profile;
    nvmlGpuInstanceProfileInfo_v2_t second = { .version = NVML_STRUCT_VERSION(GpuInstanceProfileInfo, 2) };
    nvmlGpuInstanceProfileInfo_v3_t third = { .version = NVML_STRUCT_VERSION(GpuInstanceProfileInfo, 3) };
    nvmlDeviceAttributes_t attributes;
    unsigned number = 99;
    ASK_TWO(nvmlDeviceGetMigMode);
    DO(nvmlDeviceSetMigMode(device, 1, &activation));
    ASK(nvmlDeviceIsMigDeviceHandle, unsigned);
    ASK(nvmlDeviceGetMaxMigDeviceCount, unsigned);
    ASK(nvmlDeviceGetGpuInstanceId, unsigned);
    ASK(nvmlDeviceGetComputeInstanceId, unsigned);
    DO(nvmlDeviceGetGpuInstanceProfileInfo(device, 0, &profile));
    DO(nvmlDeviceGetGpuInstanceProfileInfoV(device, 0, &second));
    DO(nvmlDeviceGetGpuInstanceProfileInfoV(device, 0, (nvmlGpuInstanceProfileInfo_v2_t *)(void *)&third));
    DO(nvmlDeviceGetGpuInstanceProfileInfoByIdV(device, 19, &second));
    DO(nvmlDeviceGetGpuInstancePossiblePlacements_v2(device, 19, NULL, &number));
    if (number <= 16)
        DO(nvmlDeviceGetGpuInstancePossiblePlacements_v2(device, 19, places, &number));
    ASK_WITH(nvmlDeviceGetGpuInstanceRemainingCapacity, unsigned, 19);
    DO(nvmlDeviceCreateGpuInstanceWithPlacement(device, 19, &place, &created));
    DO(nvmlDeviceCreateGpuInstance(device, 19, &created));
    DO(nvmlDeviceGetGpuInstances(device, 19, instances, &number));
    for (unsigned id = 7; id < 14; id++) {
        if (nvmlDeviceGetGpuInstanceById(device, id, &created) != NVML_SUCCESS)
            continue;
        DO(nvmlGpuInstanceGetInfo(created, &info));
        storm_compute_instances(created);
        if (nvmlDeviceGetMigDeviceHandleByIndex(device, 0, &mig) == NVML_SUCCESS) {
            DO(nvmlDeviceGetDeviceHandleFromMigDeviceHandle(mig, &parent));
            DO(nvmlDeviceGetAttributes_v2(mig, &attributes));
            storm_identity(mig);
        }
        DO(nvmlGpuInstanceDestroy(created));
    }
    DO(nvmlDeviceSetMigMode(device, 0, &activation));
}

static void storm_events(nvmlDevice_t device)
{
    nvmlEventSet_t set;
    nvmlEventData_t data;
    ASK(nvmlDeviceGetSupportedEventTypes, unsigned long long);
    if (nvmlEventSetCreate(&set) != NVML_SUCCESS)
        return;
    DO(nvmlDeviceRegisterEvents(device, 8, set));
    DO(nvmlEventSetWait_v2(set, &data, 5));
    DO(nvmlEventSetWait(set, NULL, 5));
    DO(nvmlEventSetFree(set));
    DO(nvmlEventSetFree((nvmlEventSet_t)(uintptr_t)0x1234));
}

static void storm_cuda(void)
{
    int number;
    size_t free_bytes, total;
    char name[8];
    const char *text;
    CUuuid uuid;
    CUdevice device;
    CUcontext context;
    CUdeviceptr pointer;
    unsigned char bytes[64] = { 1 };
    DO(cuInit(0));
    DO(cuDriverGetVersion(&number));
    DO(cuGetErrorName(CUDA_ERROR_NO_DEVICE, &text));
    DO(cuGetErrorString((CUresult)4711, &text));
    DO(cuDeviceGetCount(&number));
    if (cuDeviceGet(&device, 0) != CUDA_SUCCESS)
        return;
    DO(cuDeviceGetName(name, sizeof(name), device));
    DO(cuDeviceGetUuid(&uuid, device));
    DO(cuDeviceTotalMem_v2(&total, device));
    DO(cuDeviceGetAttribute(&number, 75, device));
    DO(cuDeviceGetAttribute(&number, 75, -3));
    if (cuCtxCreate_v2(&context, 0, device) != CUDA_SUCCESS)
        return;
    DO(cuMemGetInfo_v2(&free_bytes, &total));
    if (cuMemAlloc_v2(&pointer, sizeof(bytes)) == CUDA_SUCCESS) {
        DO(cuMemcpyHtoD_v2(pointer, bytes, sizeof(bytes)));
        DO(cuMemcpyDtoH_v2(bytes, pointer, sizeof(bytes)));
        DO(cuMemcpyDtoH_v2(bytes, pointer + 60, sizeof(bytes))); /* beyond the end: refused */
        DO(cuMemFree_v2(pointer));
        DO(cuMemFree_v2(pointer));
    }
    DO(cuMemAlloc_v2(&pointer, 4096)); /* goes with its context */
    DO(cuCtxDestroy_v2(context));
    DO(cuCtxSetCurrent(context));
}

static void *storm(void *rounds)
{
    nvmlDevice_t wrong[] = { NULL, (nvmlDevice_t)(uintptr_t)1, (nvmlDevice_t)(uintptr_t)&succeeded };
    for (int round = 0; round < *(int *)rounds; round++) {
        nvmlDevice_t devices[6] = { NULL, NULL, NULL, wrong[0], wrong[1], wrong[2] };
        DO(nvmlInit_v2());
        storm_system();
        DO(nvmlDeviceGetHandleByIndex_v2(0, &devices[0]));
        DO(nvmlDeviceGetHandleByUUID("GPU-nobody", &devices[1]));
        DO(nvmlDeviceGetHandleByUUID(NULL, &devices[1]));
        DO(nvmlDeviceGetHandleByPciBusId_v2("00000000:0F:00.0", &devices[1]));
        DO(nvmlDeviceGetHandleBySerial("12345", &devices[2]));
        for (unsigned i = 0; i < 6; i += i < 2 ? 1 : 2) {
            storm_identity(devices[i]);
            storm_power(devices[i]);
            storm_health(devices[i]);
            storm_links(devices[i], devices[0]);
            storm_processes(devices[i]);
            storm_mig(devices[i]);
            storm_events(devices[i]);
        }
        storm_cuda();
        DO(nvmlShutdown());
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, storm, &rounds) != 0)
            return 2;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d calls succeeded\n", succeeded);
    return 0;
}
