/* NVML: heat, power, clocks and load. */
#include "nvml_call.h"

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensorType,
                                      unsigned int *temp)
{
    return CALL("du>u", device, sensorType, temp);
}

nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device,
                                               nvmlTemperatureThresholds_t thresholdType, unsigned int *temp)
{
    return CALL("du>u", device, thresholdType, temp);
}

nvmlReturn_t nvmlDeviceGetNumFans(nvmlDevice_t device, unsigned int *numFans)
{
    return CALL("d>u", device, numFans);
}

nvmlReturn_t nvmlDeviceGetPowerManagementMode(nvmlDevice_t device, nvmlEnableState_t *mode)
{
    return CALL("d>u", device, mode);
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *power)
{
    return CALL("d>u", device, power);
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, unsigned int *limit)
{
    return CALL("d>u", device, limit);
}

nvmlReturn_t nvmlDeviceSetPowerManagementLimit(nvmlDevice_t device, unsigned int limit)
{
    return CALL("du>", device, limit);
}

nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned int *limit)
{
    return CALL("d>u", device, limit);
}

nvmlReturn_t nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice_t device, unsigned int *defaultLimit)
{
    return CALL("d>u", device, defaultLimit);
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t device, unsigned int *minLimit,
                                                          unsigned int *maxLimit)
{
    return CALL("d>uu", device, minLimit, maxLimit);
}

nvmlReturn_t nvmlDeviceGetPowerSource(nvmlDevice_t device, nvmlPowerSource_t *powerSource)
{
    return CALL("d>u", device, powerSource);
}

nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long *energy)
{
    return CALL("d>l", device, energy);
}

nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, nvmlPstates_t *pState)
{
    return CALL("d>u", device, pState);
}

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device,
                                                    unsigned long long *clocksEventReasons)
{
    return CALL("d>l", device, clocksEventReasons);
}

nvmlReturn_t nvmlDeviceGetSupportedClocksEventReasons(nvmlDevice_t device,
                                                      unsigned long long *supportedClocksEventReasons)
{
    return CALL("d>l", device, supportedClocksEventReasons);
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int *clock)
{
    return CALL("du>u", device, type, clock);
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int *clock)
{
    return CALL("du>u", device, type, clock);
}

nvmlReturn_t nvmlDeviceGetApplicationsClock(nvmlDevice_t device, nvmlClockType_t clockType,
                                            unsigned int *clockMHz)
{
    return CALL("du>u", device, clockType, clockMHz);
}

nvmlReturn_t nvmlDeviceGetDefaultApplicationsClock(nvmlDevice_t device, nvmlClockType_t clockType,
                                                   unsigned int *clockMHz)
{
    return CALL("du>u", device, clockType, clockMHz);
}

nvmlReturn_t nvmlDeviceGetMaxCustomerBoostClock(nvmlDevice_t device, nvmlClockType_t clockType,
                                                unsigned int *clockMHz)
{
    return CALL("du>u", device, clockType, clockMHz);
}

nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t device, nvmlClockType_t clockType, nvmlClockId_t clockId,
                                unsigned int *clockMHz)
{
    return CALL("duu>u", device, clockType, clockId, clockMHz);
}

nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned int *utilization,
                                             unsigned int *samplingPeriodUs)
{
    return CALL("d>uu", device, utilization, samplingPeriodUs);
}

nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned int *utilization,
                                             unsigned int *samplingPeriodUs)
{
    return CALL("d>uu", device, utilization, samplingPeriodUs);
}

nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_t *temperature)
{
    REQUIRE_VERSION(temperature, Temperature, 1);
    return nvml_call("nvmlDeviceGetTemperature", "du>i", device, temperature->sensorType, &temperature->temperature);
}

nvmlReturn_t nvmlDeviceGetMarginTemperature(nvmlDevice_t device, nvmlMarginTemperature_t *marginTempInfo)
{
    REQUIRE_VERSION(marginTempInfo, MarginTemperature, 1);
    return CALL("d>i", device, &marginTempInfo->marginTemperature);
}

nvmlReturn_t nvmlDeviceGetPowerState(nvmlDevice_t device, nvmlPstates_t *pState)
{
    return nvmlDeviceGetPerformanceState(device, pState);
}

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long *clocksThrottleReasons)
{
    return nvmlDeviceGetCurrentClocksEventReasons(device, clocksThrottleReasons);
}

nvmlReturn_t nvmlDeviceGetSupportedClocksThrottleReasons(nvmlDevice_t device,
                                                         unsigned long long *supportedClocksThrottleReasons)
{
    return nvmlDeviceGetSupportedClocksEventReasons(device, supportedClocksThrottleReasons);
}

nvmlReturn_t nvmlDeviceGetFanSpeed(nvmlDevice_t device, unsigned int *speed)
{
    return CALL("d>u", device, speed);
}

nvmlReturn_t nvmlDeviceGetFanSpeed_v2(nvmlDevice_t device, unsigned int fan, unsigned int *speed)
{
    return CALL("du>u", device, fan, speed);
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilization)
{
    REQUIRE(utilization);
    return CALL("d>uu", device, &utilization->gpu, &utilization->memory);
}

nvmlReturn_t nvmlDeviceGetViolationStatus(nvmlDevice_t device, nvmlPerfPolicyType_t perfPolicyType,
                                          nvmlViolationTime_t *violTime)
{
    REQUIRE(violTime);
    return CALL("du>ll", device, perfPolicyType, &violTime->referenceTime, &violTime->violationTime);
}

nvmlReturn_t nvmlDeviceGetJpgUtilization(nvmlDevice_t device, unsigned int *utilization, unsigned int *samplingPeriodUs)
{
    return CALL("d>uu", device, utilization, samplingPeriodUs);
}

nvmlReturn_t nvmlDeviceGetOfaUtilization(nvmlDevice_t device, unsigned int *utilization, unsigned int *samplingPeriodUs)
{
    return CALL("d>uu", device, utilization, samplingPeriodUs);
}

/* A list that has one entry: the simulated boards run their memory at one clock, and their cores at any up to one. */
static nvmlReturn_t single_clock(nvmlReturn_t result, unsigned clock, unsigned *count, unsigned *clocks)
{
    if (result != NVML_SUCCESS)
        return result;
    bool fits = *count >= 1 && clocks;
    *count = 1;
    if (!fits)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    clocks[0] = clock;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetSupportedMemoryClocks(nvmlDevice_t device, unsigned int *count, unsigned int *clocksMHz)
{
    unsigned clock = 0;
    REQUIRE(count);
    nvmlReturn_t result = nvmlDeviceGetMaxClockInfo(device, NVML_CLOCK_MEM, &clock);
    return single_clock(result, clock, count, clocksMHz);
}

nvmlReturn_t nvmlDeviceGetSupportedGraphicsClocks(nvmlDevice_t device, unsigned int memoryClockMHz,
                                                  unsigned int *count, unsigned int *clocksMHz)
{
    unsigned memory = 0, clock = 0;
    REQUIRE(count);
    nvmlReturn_t result = nvmlDeviceGetMaxClockInfo(device, NVML_CLOCK_MEM, &memory);
    if (result == NVML_SUCCESS && memory != memoryClockMHz)
        return NVML_ERROR_NOT_FOUND;
    if (result == NVML_SUCCESS)
        result = nvmlDeviceGetMaxClockInfo(device, NVML_CLOCK_GRAPHICS, &clock);
    return single_clock(result, clock, count, clocksMHz);
}

nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t device, nvmlGpmSupport_t *gpmSupport)
{
    unsigned minor;
    REQUIRE(gpmSupport);
    if (gpmSupport->version != 1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvmlReturn_t result = nvml_call("nvmlDeviceGetMinorNumber", "d>u", device, &minor);
    if (result == NVML_SUCCESS)
        gpmSupport->isSupportedDevice = 0; /* GPU performance monitoring is not simulated */
    return result;
}
