/* NVML: MIG. Lists of instances and places have a count that is room going in and length coming out. */
#include "nvml_call.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- mode and MIG devices ---- */

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *currentMode, unsigned int *pendingMode)
{
    return CALL("d>uu", device, currentMode, pendingMode);
}

nvmlReturn_t nvmlDeviceSetMigMode(nvmlDevice_t device, unsigned int mode, nvmlReturn_t *activationStatus)
{
    return CALL("du>u", device, mode, activationStatus);
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned int *isMigDevice)
{
    enum handle_kind kind;
    struct object object;
    REQUIRE(isMigDevice && object_of(device, &kind, &object));
    *isMigDevice = kind == HANDLE_MIG;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned int *count)
{
    return CALL("d>u", device, count);
}

nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned int index, nvmlDevice_t *migDevice)
{
    return CALL("du>d", device, index, migDevice);
}

nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t migDevice, nvmlDevice_t *device)
{
    return CALL("d>d", migDevice, device);
}

nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, unsigned int *id)
{
    return CALL("d>u", device, id);
}

nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t device, unsigned int *id)
{
    return CALL("d>u", device, id);
}

nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t *attributes)
{
    REQUIRE(attributes);
    return CALL("d>uuuuuuuul", device, &attributes->multiprocessorCount, &attributes->sharedCopyEngineCount,
                &attributes->sharedDecoderCount, &attributes->sharedEncoderCount, &attributes->sharedJpegCount,
                &attributes->sharedOfaCount, &attributes->gpuInstanceSliceCount,
                &attributes->computeInstanceSliceCount, &attributes->memorySizeMB);
}

nvmlReturn_t nvmlDeviceGetAttributes(nvmlDevice_t device, nvmlDeviceAttributes_t *attributes)
{
    return nvmlDeviceGetAttributes_v2(device, attributes);
}

/* ---- lists ---- */

/* Room to write and what was found; `take` stores one entry. */
typedef bool take_entry(struct reply *reply, void *entries, unsigned index);

static bool take_gpu_instance(struct reply *reply, void *entries, unsigned index)
{
    struct object object;
    if (!reply_object(reply, &object) || object.depth != 2)
        return false;
    ((nvmlGpuInstance_t *)entries)[index] = handle_of(HANDLE_GPU_INSTANCE, &object);
    return true;
}

static bool take_compute_instance(struct reply *reply, void *entries, unsigned index)
{
    struct object object;
    if (!reply_object(reply, &object) || object.depth != 3)
        return false;
    ((nvmlComputeInstance_t *)entries)[index] = handle_of(HANDLE_COMPUTE_INSTANCE, &object);
    return true;
}

static bool take_pair(struct reply *reply, unsigned *start, unsigned *size)
{
    unsigned long long first, second;
    if (!reply_unsigned(reply, &first) || !reply_unsigned(reply, &second) || first > UINT32_MAX || second > UINT32_MAX)
        return false;
    *start = (unsigned)first;
    *size = (unsigned)second;
    return true;
}

static bool take_gpu_placement(struct reply *reply, void *entries, unsigned index)
{
    nvmlGpuInstancePlacement_t *placement = (nvmlGpuInstancePlacement_t *)entries + index;
    return take_pair(reply, &placement->start, &placement->size);
}

static bool take_compute_placement(struct reply *reply, void *entries, unsigned index)
{
    nvmlComputeInstancePlacement_t *placement = (nvmlComputeInstancePlacement_t *)entries + index;
    return take_pair(reply, &placement->start, &placement->size);
}

/*
 * Ends a list call. For places `count` only comes out, and NULL entries ask for the number alone (`sized` false); the
 * caller's array then has room for all, by the profile's instance count.
 */
static nvmlReturn_t take_list(struct reply *reply, take_entry *take, void *entries, unsigned *count)
{
    unsigned long long length;
    nvmlReturn_t result = NVML_SUCCESS;
    if (!reply_unsigned(reply, &length) || length > 64)
        result = NVML_ERROR_UNKNOWN;
    for (unsigned i = 0; entries && result == NVML_SUCCESS && i < length; i++)
        if (!take(reply, entries, i))
            result = NVML_ERROR_UNKNOWN;
    if (result == NVML_SUCCESS)
        *count = (unsigned)length;
    reply_free(reply);
    return result;
}

/* ---- GPU instances ---- */

/* What all versions of the profile struct hold. */
static nvmlReturn_t ask_gpu_profile(const char *function, nvmlDevice_t device, unsigned profile,
                                    nvmlGpuInstanceProfileInfo_v2_t *info)
{
    return nvml_call(function, "du>uuuuuuuuuult", device, profile, &info->id, &info->isP2pSupported, &info->sliceCount,
                     &info->instanceCount, &info->multiprocessorCount, &info->copyEngineCount, &info->decoderCount,
                     &info->encoderCount, &info->jpegCount, &info->ofaCount, &info->memorySizeMB, info->name,
                     (unsigned)sizeof(info->name));
}

nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfo(nvmlDevice_t device, unsigned int profile,
                                                 nvmlGpuInstanceProfileInfo_t *info)
{
    nvmlGpuInstanceProfileInfo_v2_t second;
    REQUIRE(info);
    nvmlReturn_t result = ask_gpu_profile("nvmlDeviceGetGpuInstanceProfileInfo", device, profile, &second);
    if (result != NVML_SUCCESS)
        return result;
    *info = (nvmlGpuInstanceProfileInfo_t){
        .id = second.id,
        .isP2pSupported = second.isP2pSupported,
        .sliceCount = second.sliceCount,
        .instanceCount = second.instanceCount,
        .multiprocessorCount = second.multiprocessorCount,
        .copyEngineCount = second.copyEngineCount,
        .decoderCount = second.decoderCount,
        .encoderCount = second.encoderCount,
        .jpegCount = second.jpegCount,
        .ofaCount = second.ofaCount,
        .memorySizeMB = second.memorySizeMB,
    };
    return NVML_SUCCESS;
}

/* The caller's struct is of version 2 or 3, as its first word says. */
static nvmlReturn_t fill_gpu_profile(const char *function, nvmlDevice_t device, unsigned profile, void *info)
{
    nvmlGpuInstanceProfileInfo_v2_t *second = info;
    nvmlGpuInstanceProfileInfo_v3_t *third = info;
    nvmlGpuInstanceProfileInfo_v2_t answer;
    REQUIRE(info);
    if (second->version == NVML_STRUCT_VERSION(GpuInstanceProfileInfo, 2)) {
        return ask_gpu_profile(function, device, profile, second);
    }
    if (third->version != NVML_STRUCT_VERSION(GpuInstanceProfileInfo, 3))
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvmlReturn_t result = ask_gpu_profile(function, device, profile, &answer);
    if (result != NVML_SUCCESS)
        return result;
    third->id = answer.id;
    third->sliceCount = answer.sliceCount;
    third->instanceCount = answer.instanceCount;
    third->multiprocessorCount = answer.multiprocessorCount;
    third->copyEngineCount = answer.copyEngineCount;
    third->decoderCount = answer.decoderCount;
    third->encoderCount = answer.encoderCount;
    third->jpegCount = answer.jpegCount;
    third->ofaCount = answer.ofaCount;
    third->memorySizeMB = answer.memorySizeMB;
    for (size_t i = 0; i < sizeof(third->name); i++)
        third->name[i] = answer.name[i];
    third->capabilities = 0;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfoV(nvmlDevice_t device, unsigned int profile,
                                                  nvmlGpuInstanceProfileInfo_v2_t *info)
{
    return fill_gpu_profile("nvmlDeviceGetGpuInstanceProfileInfo", device, profile, info);
}

nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfoByIdV(nvmlDevice_t device, unsigned int profileId,
                                                      nvmlGpuInstanceProfileInfo_v2_t *info)
{
    return fill_gpu_profile("nvmlDeviceGetGpuInstanceProfileInfoById", device, profileId, info);
}

nvmlReturn_t nvmlDeviceGetGpuInstancePossiblePlacements_v2(nvmlDevice_t device, unsigned int profileId,
                                                           nvmlGpuInstancePlacement_t *placements, unsigned int *count)
{
    struct reply reply;
    REQUIRE(count);
    nvmlReturn_t result = nvml_ask(&reply, "nvmlDeviceGetGpuInstancePossiblePlacements_v2", "du", device, profileId);
    return result == NVML_SUCCESS ? take_list(&reply, take_gpu_placement, placements, count) : result;
}

nvmlReturn_t nvmlDeviceGetGpuInstanceRemainingCapacity(nvmlDevice_t device, unsigned int profileId,
                                                       unsigned int *count)
{
    return CALL("du>u", device, profileId, count);
}

nvmlReturn_t nvmlDeviceCreateGpuInstance(nvmlDevice_t device, unsigned int profileId, nvmlGpuInstance_t *gpuInstance)
{
    return CALL("du>I", device, profileId, gpuInstance);
}

nvmlReturn_t nvmlDeviceCreateGpuInstanceWithPlacement(nvmlDevice_t device, unsigned int profileId,
                                                      const nvmlGpuInstancePlacement_t *placement,
                                                      nvmlGpuInstance_t *gpuInstance)
{
    REQUIRE(placement);
    return CALL("duuu>I", device, profileId, placement->start, placement->size, gpuInstance);
}

nvmlReturn_t nvmlGpuInstanceDestroy(nvmlGpuInstance_t gpuInstance)
{
    return CALL("I>", gpuInstance);
}

nvmlReturn_t nvmlDeviceGetGpuInstances(nvmlDevice_t device, unsigned int profileId, nvmlGpuInstance_t *gpuInstances,
                                       unsigned int *count)
{
    struct reply reply;
    REQUIRE(gpuInstances && count);
    nvmlReturn_t result = nvml_ask(&reply, "nvmlDeviceGetGpuInstances", "du", device, profileId);
    return result == NVML_SUCCESS ? take_list(&reply, take_gpu_instance, gpuInstances, count) : result;
}

nvmlReturn_t nvmlDeviceGetGpuInstanceById(nvmlDevice_t device, unsigned int id, nvmlGpuInstance_t *gpuInstance)
{
    return CALL("du>I", device, id, gpuInstance);
}

nvmlReturn_t nvmlGpuInstanceGetInfo(nvmlGpuInstance_t gpuInstance, nvmlGpuInstanceInfo_t *info)
{
    REQUIRE(info);
    return CALL("I>duuuu", gpuInstance, &info->device, &info->id, &info->profileId, &info->placement.start,
                &info->placement.size);
}

/* ---- compute instances ---- */

static nvmlReturn_t ask_compute_profile(nvmlGpuInstance_t gpu_instance, unsigned profile, unsigned engines,
                                        nvmlComputeInstanceProfileInfo_v3_t *info)
{
    return nvml_call("nvmlGpuInstanceGetComputeInstanceProfileInfo", "Iuu>uuuuuuuuut", gpu_instance, profile, engines,
                     &info->id, &info->sliceCount, &info->instanceCount, &info->multiprocessorCount,
                     &info->sharedCopyEngineCount, &info->sharedDecoderCount, &info->sharedEncoderCount,
                     &info->sharedJpegCount, &info->sharedOfaCount, info->name, (unsigned)sizeof(info->name));
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstanceProfileInfo(nvmlGpuInstance_t gpuInstance, unsigned int profile,
                                                          unsigned int engProfile,
                                                          nvmlComputeInstanceProfileInfo_t *info)
{
    nvmlComputeInstanceProfileInfo_v3_t third;
    REQUIRE(info);
    nvmlReturn_t result = ask_compute_profile(gpuInstance, profile, engProfile, &third);
    if (result != NVML_SUCCESS)
        return result;
    *info = (nvmlComputeInstanceProfileInfo_t){
        .id = third.id,
        .sliceCount = third.sliceCount,
        .instanceCount = third.instanceCount,
        .multiprocessorCount = third.multiprocessorCount,
        .sharedCopyEngineCount = third.sharedCopyEngineCount,
        .sharedDecoderCount = third.sharedDecoderCount,
        .sharedEncoderCount = third.sharedEncoderCount,
        .sharedJpegCount = third.sharedJpegCount,
        .sharedOfaCount = third.sharedOfaCount,
    };
    return NVML_SUCCESS;
}

/* Version 3 is version 2 with one word more. */
nvmlReturn_t nvmlGpuInstanceGetComputeInstanceProfileInfoV(nvmlGpuInstance_t gpuInstance, unsigned int profile,
                                                           unsigned int engProfile,
                                                           nvmlComputeInstanceProfileInfo_v2_t *info)
{
    nvmlComputeInstanceProfileInfo_v3_t answer = { 0 };
    REQUIRE(info);
    unsigned version = info->version;
    bool third = version == NVML_STRUCT_VERSION(ComputeInstanceProfileInfo, 3);
    if (!third && version != NVML_STRUCT_VERSION(ComputeInstanceProfileInfo, 2))
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvmlReturn_t result = ask_compute_profile(gpuInstance, profile, engProfile, &answer);
    if (result != NVML_SUCCESS)
        return result;
    answer.version = version;
    memcpy(info, &answer, third ? sizeof(answer) : sizeof(*info));
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstanceRemainingCapacity(nvmlGpuInstance_t gpuInstance, unsigned int profileId,
                                                                unsigned int *count)
{
    return CALL("Iu>u", gpuInstance, profileId, count);
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstancePossiblePlacements(nvmlGpuInstance_t gpuInstance, unsigned int profileId,
                                                                 nvmlComputeInstancePlacement_t *placements,
                                                                 unsigned int *count)
{
    struct reply reply;
    REQUIRE(count);
    nvmlReturn_t result =
        nvml_ask(&reply, "nvmlGpuInstanceGetComputeInstancePossiblePlacements", "Iu", gpuInstance, profileId);
    return result == NVML_SUCCESS ? take_list(&reply, take_compute_placement, placements, count) : result;
}

nvmlReturn_t nvmlGpuInstanceCreateComputeInstance(nvmlGpuInstance_t gpuInstance, unsigned int profileId,
                                                  nvmlComputeInstance_t *computeInstance)
{
    return CALL("Iu>C", gpuInstance, profileId, computeInstance);
}

nvmlReturn_t nvmlGpuInstanceCreateComputeInstanceWithPlacement(nvmlGpuInstance_t gpuInstance, unsigned int profileId,
                                                               const nvmlComputeInstancePlacement_t *placement,
                                                               nvmlComputeInstance_t *computeInstance)
{
    REQUIRE(placement);
    return CALL("Iuuu>C", gpuInstance, profileId, placement->start, placement->size, computeInstance);
}

nvmlReturn_t nvmlComputeInstanceDestroy(nvmlComputeInstance_t computeInstance)
{
    return CALL("C>", computeInstance);
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstances(nvmlGpuInstance_t gpuInstance, unsigned int profileId,
                                                nvmlComputeInstance_t *computeInstances, unsigned int *count)
{
    struct reply reply;
    REQUIRE(computeInstances && count);
    nvmlReturn_t result = nvml_ask(&reply, "nvmlGpuInstanceGetComputeInstances", "Iu", gpuInstance, profileId);
    return result == NVML_SUCCESS ? take_list(&reply, take_compute_instance, computeInstances, count) : result;
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstanceById(nvmlGpuInstance_t gpuInstance, unsigned int id,
                                                   nvmlComputeInstance_t *computeInstance)
{
    return CALL("Iu>C", gpuInstance, id, computeInstance);
}

nvmlReturn_t nvmlComputeInstanceGetInfo_v2(nvmlComputeInstance_t computeInstance, nvmlComputeInstanceInfo_t *info)
{
    REQUIRE(info);
    return CALL("C>dIuuuu", computeInstance, &info->device, &info->gpuInstance, &info->id, &info->profileId,
                &info->placement.start, &info->placement.size);
}

nvmlReturn_t nvmlComputeInstanceGetInfo(nvmlComputeInstance_t computeInstance, nvmlComputeInstanceInfo_t *info)
{
    return nvmlComputeInstanceGetInfo_v2(computeInstance, info);
}
