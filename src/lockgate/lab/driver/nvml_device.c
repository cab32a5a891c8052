/* NVML: who a device is, what it offers, what it holds. */
#include "nvml_call.h"

#include <stdio.h>
#include <string.h>

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length)
{
    return CALL("d>t", device, name, length);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length)
{
    return CALL("d>t", device, uuid, length);
}

nvmlReturn_t nvmlDeviceGetSerial(nvmlDevice_t device, char *serial, unsigned int length)
{
    return CALL("d>t", device, serial, length);
}

nvmlReturn_t nvmlDeviceGetBoardPartNumber(nvmlDevice_t device, char *partNumber, unsigned int length)
{
    return CALL("d>t", device, partNumber, length);
}

nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char *version, unsigned int length)
{
    return CALL("d>t", device, version, length);
}

nvmlReturn_t nvmlDeviceGetInforomImageVersion(nvmlDevice_t device, char *version, unsigned int length)
{
    return CALL("d>t", device, version, length);
}

nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t *type)
{
    return CALL("d>u", device, type);
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index)
{
    return CALL("d>u", device, index);
}

nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int *minorNumber)
{
    return CALL("d>u", device, minorNumber);
}

nvmlReturn_t nvmlDeviceGetModuleId(nvmlDevice_t device, unsigned int *moduleId)
{
    return CALL("d>u", device, moduleId);
}

nvmlReturn_t nvmlDeviceGetBoardId(nvmlDevice_t device, unsigned int *boardId)
{
    return CALL("d>u", device, boardId);
}

nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device, unsigned int *multiGpuBool)
{
    return CALL("d>u", device, multiGpuBool);
}

nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, nvmlDeviceArchitecture_t *arch)
{
    return CALL("d>u", device, arch);
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor)
{
    return CALL("d>ii", device, major, minor);
}

nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned int *numCores)
{
    return CALL("d>u", device, numCores);
}

nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned int *busWidth)
{
    return CALL("d>u", device, busWidth);
}

nvmlReturn_t nvmlDeviceGetNumaNodeId(nvmlDevice_t device, unsigned int *node)
{
    return CALL("d>u", device, node);
}

nvmlReturn_t nvmlDeviceGetBusType(nvmlDevice_t device, nvmlBusType_t *type)
{
    return CALL("d>u", device, type);
}

nvmlReturn_t nvmlDeviceGetIrqNum(nvmlDevice_t device, unsigned int *irqNum)
{
    return CALL("d>u", device, irqNum);
}

nvmlReturn_t nvmlDeviceGetDisplayMode(nvmlDevice_t device, nvmlEnableState_t *display)
{
    return CALL("d>u", device, display);
}

nvmlReturn_t nvmlDeviceGetDisplayActive(nvmlDevice_t device, nvmlEnableState_t *isActive)
{
    return CALL("d>u", device, isActive);
}

nvmlReturn_t nvmlDeviceGetVirtualizationMode(nvmlDevice_t device, nvmlGpuVirtualizationMode_t *pVirtualMode)
{
    return CALL("d>u", device, pVirtualMode);
}

nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t *mode)
{
    return CALL("d>u", device, mode);
}

nvmlReturn_t nvmlDeviceSetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t mode)
{
    return CALL("du>", device, mode);
}

nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, nvmlComputeMode_t *mode)
{
    return CALL("d>u", device, mode);
}

nvmlReturn_t nvmlDeviceSetComputeMode(nvmlDevice_t device, nvmlComputeMode_t mode)
{
    return CALL("du>", device, mode);
}

nvmlReturn_t nvmlDeviceGetGspFirmwareMode(nvmlDevice_t device, unsigned int *isEnabled,
                                          unsigned int *defaultMode)
{
    return CALL("d>uu", device, isEnabled, defaultMode);
}

nvmlReturn_t nvmlDeviceGetGspFirmwareVersion(nvmlDevice_t device, char *version)
{
    return CALL("d>t", device, version, 80U); /* the buffer is of a fixed size: NVML_GSP_FIRMWARE_VERSION_BUF_SIZE */
}

nvmlReturn_t nvmlDeviceGetMemoryAffinity(nvmlDevice_t device, unsigned int nodeSetSize, unsigned long *nodeSet,
                                         nvmlAffinityScope_t scope)
{
    unsigned node;
    REQUIRE(nodeSet && nodeSetSize > 0 && scope <= 1);
    nvmlReturn_t result = CALL("d>u", device, &node);
    if (result != NVML_SUCCESS)
        return result;
    memset(nodeSet, 0, nodeSetSize * sizeof(*nodeSet));
    unsigned bits = 8 * sizeof(*nodeSet);
    if (node / bits < nodeSetSize)
        nodeSet[node / bits] |= 1UL << (node % bits);
    return NVML_SUCCESS;
}

static void format_bus_id(nvmlPciInfo_t *pci)
{
    snprintf(pci->busId, sizeof(pci->busId), "%08X:%02X:%02X.0", pci->domain, pci->bus & 0xFF, pci->device & 0x1F);
    snprintf(pci->busIdLegacy, sizeof(pci->busIdLegacy), "%04X:%02X:%02X.0", pci->domain & 0xFFFF, pci->bus & 0xFF,
             pci->device & 0x1F);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    REQUIRE(pci);
    nvmlReturn_t result = CALL("d>uuuuu", device, &pci->domain, &pci->bus, &pci->device, &pci->pciDeviceId,
                               &pci->pciSubSystemId);
    if (result == NVML_SUCCESS)
        format_bus_id(pci);
    return result;
}

nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    return nvmlDeviceGetPciInfo_v3(device, pci);
}

nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    return nvmlDeviceGetPciInfo_v3(device, pci);
}

nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_t *pci)
{
    nvmlPciInfo_t plain;
    REQUIRE_VERSION(pci, PciInfoExt, 1);
    nvmlReturn_t result = nvmlDeviceGetPciInfo_v3(device, &plain);
    if (result != NVML_SUCCESS)
        return result;
    pci->domain = plain.domain;
    pci->bus = plain.bus;
    pci->device = plain.device;
    pci->pciDeviceId = plain.pciDeviceId;
    pci->pciSubSystemId = plain.pciSubSystemId;
    pci->baseClass = 0x03; /* display controller */
    pci->subClass = 0x02;  /* 3D */
    memcpy(pci->busId, plain.busId, sizeof(pci->busId));
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
    REQUIRE_VERSION(memory, Memory, 2);
    return CALL("d>llll", device, &memory->total, &memory->reserved, &memory->free, &memory->used);
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
    unsigned long long reserved;
    REQUIRE(memory);
    nvmlReturn_t result = nvml_call("nvmlDeviceGetMemoryInfo_v2", "d>llll", device, &memory->total, &reserved,
                                    &memory->free, &memory->used);
    if (result == NVML_SUCCESS)
        memory->used += reserved; /* version 1 does not tell them apart */
    return result;
}

nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device, nvmlBAR1Memory_t *bar1Memory)
{
    REQUIRE(bar1Memory);
    return CALL("d>lll", device, &bar1Memory->bar1Total, &bar1Memory->bar1Free, &bar1Memory->bar1Used);
}
