/* NVML: errors, repairs, field values. */
#define _POSIX_C_SOURCE 200809L

#include "nvml_call.h"

#include <stddef.h>
#include <time.h>

nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, nvmlEnableState_t *current, nvmlEnableState_t *pending)
{
    return CALL("d>uu", device, current, pending);
}

nvmlReturn_t nvmlDeviceGetDefaultEccMode(nvmlDevice_t device, nvmlEnableState_t *defaultMode)
{
    return CALL("d>u", device, defaultMode);
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t errorType,
                                         nvmlEccCounterType_t counterType, unsigned long long *eccCounts)
{
    return CALL("duu>l", device, errorType, counterType, eccCounts);
}

nvmlReturn_t nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t device, nvmlMemoryErrorType_t errorType,
                                             nvmlEccCounterType_t counterType,
                                             nvmlMemoryLocation_t locationType, unsigned long long *count)
{
    return CALL("duuu>l", device, errorType, counterType, locationType, count);
}

nvmlReturn_t nvmlDeviceGetRetiredPagesPendingStatus(nvmlDevice_t device, nvmlEnableState_t *isPending)
{
    return CALL("d>u", device, isPending);
}

nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t device, unsigned int *corrRows, unsigned int *uncRows,
                                       unsigned int *isPending, unsigned int *failureOccurred)
{
    return CALL("d>uuuu", device, corrRows, uncRows, isPending, failureOccurred);
}

nvmlReturn_t nvmlDeviceGetRowRemapperHistogram(nvmlDevice_t device, nvmlRowRemapperHistogramValues_t *values)
{
    REQUIRE(values);
    return CALL("d>uuuuu", device, &values->max, &values->high, &values->partial, &values->low, &values->none);
}

nvmlReturn_t nvmlDeviceGetRetiredPages_v2(nvmlDevice_t device, nvmlPageRetirementCause_t cause, unsigned int *pageCount,
                                          unsigned long long *addresses, unsigned long long *timestamps)
{
    struct reply reply;
    unsigned long long count, address, timestamp;
    REQUIRE(pageCount && (addresses || *pageCount == 0));
    nvmlReturn_t result = nvml_ask(&reply, "nvmlDeviceGetRetiredPages_v2", "du", device, cause);
    if (result != NVML_SUCCESS)
        return result;
    result = reply_unsigned(&reply, &count) && count <= LINE_LIMIT ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
    if (result == NVML_SUCCESS && count > *pageCount)
        result = NVML_ERROR_INSUFFICIENT_SIZE;
    for (unsigned i = 0; result == NVML_SUCCESS && i < count; i++) {
        if (!reply_unsigned(&reply, &address) || !reply_unsigned(&reply, &timestamp)) {
            result = NVML_ERROR_UNKNOWN;
            break;
        }
        addresses[i] = address;
        if (timestamps)
            timestamps[i] = timestamp;
    }
    if (result != NVML_ERROR_UNKNOWN)
        *pageCount = (unsigned)count;
    reply_free(&reply);
    return result;
}

nvmlReturn_t nvmlDeviceGetRetiredPages(nvmlDevice_t device, nvmlPageRetirementCause_t cause, unsigned int *pageCount,
                                       unsigned long long *addresses)
{
    return nvmlDeviceGetRetiredPages_v2(device, cause, pageCount, addresses, NULL);
}

static long long now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Each field has its own return code; the call as a whole fails only when the device does. */
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int valuesCount, nvmlFieldValue_t *values)
{
    REQUIRE(values && valuesCount > 0);
    for (int i = 0; i < valuesCount; i++) {
        nvmlFieldValue_t *field = &values[i];
        unsigned kind = 0;
        field->value.ullVal = 0;
        field->timestamp = now_us();
        field->nvmlReturn = CALL("duu>ul", device, field->fieldId, field->scopeId, &kind, &field->value.ullVal);
        field->latencyUsec = now_us() - field->timestamp;
        field->valueType = (nvmlValueType_t)kind;
        if (field->nvmlReturn != NVML_SUCCESS && field->nvmlReturn != NVML_ERROR_NOT_SUPPORTED)
            return field->nvmlReturn;
    }
    return NVML_SUCCESS;
}
