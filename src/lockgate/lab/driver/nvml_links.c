/* NVML: pCIe, NVLink, topology. */
#define _POSIX_C_SOURCE 200809L

#include "nvml_call.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int *maxLinkGen)
{
    return CALL("d>u", device, maxLinkGen);
}

nvmlReturn_t nvmlDeviceGetGpuMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int *maxLinkGenDevice)
{
    return CALL("d>u", device, maxLinkGenDevice);
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned int *maxLinkWidth)
{
    return CALL("d>u", device, maxLinkWidth);
}

nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned int *currLinkGen)
{
    return CALL("d>u", device, currLinkGen);
}

nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned int *currLinkWidth)
{
    return CALL("d>u", device, currLinkWidth);
}

nvmlReturn_t nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned int *value)
{
    return CALL("d>u", device, value);
}

nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, nvmlPcieUtilCounter_t counter,
                                         unsigned int *value)
{
    return CALL("du>u", device, counter, value);
}

nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device1, nvmlDevice_t device2,
                                                 nvmlGpuTopologyLevel_t *pathInfo)
{
    return CALL("dd>u", device1, device2, pathInfo);
}

nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t device1, nvmlDevice_t device2,
                                    nvmlGpuP2PCapsIndex_t p2pIndex, nvmlGpuP2PStatus_t *p2pStatus)
{
    return CALL("ddu>u", device1, device2, p2pIndex, p2pStatus);
}

nvmlReturn_t nvmlDeviceOnSameBoard(nvmlDevice_t device1, nvmlDevice_t device2, int *onSameBoard)
{
    return CALL("dd>i", device1, device2, onSameBoard);
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link, nvmlEnableState_t *isActive)
{
    return CALL("du>u", device, link, isActive);
}

nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned int link, unsigned int *version)
{
    return CALL("du>u", device, link, version);
}

nvmlReturn_t nvmlDeviceGetNvLinkCapability(nvmlDevice_t device, unsigned int link,
                                           nvmlNvLinkCapability_t capability, unsigned int *capResult)
{
    return CALL("duu>u", device, link, capability, capResult);
}

nvmlReturn_t nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t device, unsigned int link,
                                             nvmlNvLinkErrorCounter_t counter,
                                             unsigned long long *counterValue)
{
    return CALL("duu>l", device, link, counter, counterValue);
}

nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned int link,
                                                 nvmlIntNvLinkDeviceType_t *pNvLinkDeviceType)
{
    return CALL("du>u", device, link, pNvLinkDeviceType);
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned int link, nvmlPciInfo_t *pci)
{
    REQUIRE(pci);
    nvmlReturn_t result = CALL("du>uuuuu", device, link, &pci->domain, &pci->bus, &pci->device, &pci->pciDeviceId,
                               &pci->pciSubSystemId);
    if (result != NVML_SUCCESS)
        return result;
    snprintf(pci->busId, sizeof(pci->busId), "%08X:%02X:%02X.0", pci->domain, pci->bus & 0xFF, pci->device & 0x1F);
    snprintf(pci->busIdLegacy, sizeof(pci->busIdLegacy), "%04X:%02X:%02X.0", pci->domain & 0xFFFF, pci->bus & 0xFF,
             pci->device & 0x1F);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t device, unsigned int link, nvmlPciInfo_t *pci)
{
    return nvmlDeviceGetNvLinkRemotePciInfo_v2(device, link, pci);
}

/* What all versions of the fabric struct hold, as the simulator tells it. */
struct fabric {
    unsigned char cluster_uuid[NVML_GPU_FABRIC_UUID_LEN];
    unsigned status, clique_id, state, health_mask;
};

/* The sixteen bytes of a UUID as text; false when it is none. */
static bool parse_uuid(const char *text, unsigned char *bytes)
{
    unsigned count = 0;
    for (; *text && count < NVML_GPU_FABRIC_UUID_LEN; text++) {
        unsigned byte;
        if (*text == '-')
            continue;
        if (sscanf(text, "%2x", &byte) != 1)
            return false;
        bytes[count++] = (unsigned char)byte;
        text++;
    }
    return count == NVML_GPU_FABRIC_UUID_LEN && !*text;
}

static nvmlReturn_t ask_fabric(nvmlDevice_t device, struct fabric *fabric)
{
    char uuid[40];
    nvmlReturn_t result = nvml_call("nvmlDeviceGetGpuFabricInfo", "d>tuuuu", device, uuid, (unsigned)sizeof(uuid),
                                    &fabric->status, &fabric->clique_id, &fabric->state, &fabric->health_mask);
    if (result == NVML_SUCCESS && !parse_uuid(uuid, fabric->cluster_uuid))
        return NVML_ERROR_UNKNOWN;
    return result;
}

#define FILL_FABRIC(info, fabric)                                               \
    do {                                                                        \
        memcpy((info)->clusterUuid, (fabric).cluster_uuid, NVML_GPU_FABRIC_UUID_LEN); \
        (info)->status = (nvmlReturn_t)(fabric).status;                         \
        (info)->cliqueId = (fabric).clique_id;                                  \
        (info)->state = (nvmlGpuFabricState_t)(fabric).state;                   \
    } while (0)

nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device, nvmlGpuFabricInfo_t *gpuFabricInfo)
{
    struct fabric fabric;
    REQUIRE(gpuFabricInfo);
    nvmlReturn_t result = ask_fabric(device, &fabric);
    if (result == NVML_SUCCESS)
        FILL_FABRIC(gpuFabricInfo, fabric);
    return result;
}

/* The caller's struct is of version 2 or 3; they differ in one byte at the end. */
nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device, nvmlGpuFabricInfoV_t *gpuFabricInfo)
{
    struct fabric fabric;
    REQUIRE(gpuFabricInfo);
    nvmlGpuFabricInfo_v2_t *second = (nvmlGpuFabricInfo_v2_t *)(void *)gpuFabricInfo;
    bool third = gpuFabricInfo->version == NVML_STRUCT_VERSION(GpuFabricInfo, 3);
    if (!third && gpuFabricInfo->version != NVML_STRUCT_VERSION(GpuFabricInfo, 2))
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvmlReturn_t result = ask_fabric(device, &fabric);
    if (result != NVML_SUCCESS)
        return result;
    FILL_FABRIC(second, fabric);
    second->healthMask = fabric.health_mask;
    if (third)
        gpuFabricInfo->healthSummary = fabric.state == 0 ? 0 : 1; /* not supported, healthy */
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPcieLinkMaxSpeed(nvmlDevice_t device, unsigned int *maxSpeed)
{
    return nvmlDeviceGetMaxPcieLinkGeneration(device, maxSpeed); /* the enum of speeds counts as generations do */
}

nvmlReturn_t nvmlDeviceGetPcieSpeed(nvmlDevice_t device, unsigned int *pcieSpeed)
{
    return CALL("d>u", device, pcieSpeed);
}

/* The processors near the device: all of them, as on a machine with one NUMA node. */
nvmlReturn_t nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice_t device, unsigned int cpuSetSize, unsigned long *cpuSet,
                                                 nvmlAffinityScope_t scope)
{
    unsigned minor, bits = 8 * sizeof(*cpuSet);
    REQUIRE(cpuSet && cpuSetSize > 0 && scope <= 1);
    nvmlReturn_t result = nvml_call("nvmlDeviceGetMinorNumber", "d>u", device, &minor);
    if (result != NVML_SUCCESS)
        return result;
    memset(cpuSet, 0, cpuSetSize * sizeof(*cpuSet));
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    for (unsigned cpu = 0; (long)cpu < processors && cpu / bits < cpuSetSize; cpu++)
        cpuSet[cpu / bits] |= 1UL << (cpu % bits);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned int cpuSetSize, unsigned long *cpuSet)
{
    return nvmlDeviceGetCpuAffinityWithinScope(device, cpuSetSize, cpuSet, 0);
}

nvmlReturn_t nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device, nvmlGpuTopologyLevel_t level, unsigned int *count,
                                              nvmlDevice_t *deviceArray)
{
    struct reply reply;
    struct object object;
    unsigned long long length;
    REQUIRE(count);
    nvmlReturn_t result = nvml_ask(&reply, "nvmlDeviceGetTopologyNearestGpus", "du", device, level);
    if (result != NVML_SUCCESS)
        return result;
    if (!reply_unsigned(&reply, &length) || length > MOST_GPUS)
        result = NVML_ERROR_UNKNOWN;
    else if (deviceArray && length > *count)
        result = NVML_ERROR_INSUFFICIENT_SIZE;
    for (unsigned i = 0; deviceArray && result == NVML_SUCCESS && i < length; i++)
        if (!reply_object(&reply, &object) || object.depth != 1 || !(deviceArray[i] = device_handle(&object)))
            result = NVML_ERROR_UNKNOWN;
    if (result != NVML_ERROR_UNKNOWN)
        *count = (unsigned)length;
    reply_free(&reply);
    return result;
}
