/* A stand-in for libnvidia-ml.so.1: the host that NVML_STUB names, with figures that follow from the time alone.
 *
 *   h200     two H200, the one asked for second
 *   old      no field values: a board that averages its power over a second, without an energy counter or ECC
 *   lost     as h200, until NVML_STUB_FOR milliseconds have passed, then "GPU is lost"
 *   none     no driver
 *
 * NVML_STUB_MIG: the chip is sliced. NVML_STUB_USED: a process of number 4242 holds 3 GiB. NVML_STUB_FREE: nobody set the
 * clocks, as somebody has otherwise.
 * NVML_STUB_THROTTLE: "reason" sets a reason that holds now, "counter" lets the thermal policy's counter grow.
 * Power is 300 W; the energy counter is updated every 20 ms.
 */
#include "nvml.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct { unsigned index; } device_t;

static device_t devices[2] = {{0}, {1}};
static uint64_t started;

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int is(const char *variable, const char *value) {
    const char *found = getenv(variable);
    return found && !strcmp(found, value);
}

static int lost(void) {
    const char *after = getenv("NVML_STUB_FOR");
    return is("NVML_STUB", "lost") && after && now_ns() - started > (uint64_t)atoll(after) * 1000000u;
}

#define ANSWER(body) do { if (lost()) return NVML_ERROR_GPU_IS_LOST; body; return NVML_SUCCESS; } while (0)

int nvmlInitWithFlags(unsigned flags) { (void)flags; started = now_ns(); return is("NVML_STUB", "none") ? NVML_ERROR_DRIVER_NOT_LOADED : NVML_SUCCESS; }
int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
int nvmlShutdown(void) { return NVML_SUCCESS; }
const char *nvmlErrorString(int code) { return code == NVML_ERROR_NOT_SUPPORTED ? "Not Supported" : "error"; }
int nvmlSystemGetNVMLVersion(char *text, unsigned length) { snprintf(text, length, "13.570.1"); return NVML_SUCCESS; }

static const char *uuids[2] = {"GPU-00000000-1111-2222-3333-444444444444", "GPU-aaaaaaaa-1111-2222-3333-bbbbbbbbbbbb"};
static const unsigned buses[2] = {0x4d, 0x1b};

int nvmlDeviceGetHandleByUUID(const char *uuid, device_t **device) {
    for (int i = 0; i < 2; i++)
        if (!strcmp(uuid, uuids[i])) { *device = &devices[i]; return NVML_SUCCESS; }
    return NVML_ERROR_NOT_FOUND;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, device_t **device) {
    char text[32];
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "00000000:%02x:00.0", buses[i]);
        if (!strcmp(pci, text)) { *device = &devices[i]; return NVML_SUCCESS; }
    }
    return NVML_ERROR_NOT_FOUND;
}

int nvmlSystemGetDriverVersion(char *text, unsigned length) { snprintf(text, length, "580.65.06"); return NVML_SUCCESS; }
int nvmlDeviceGetPersistenceMode(device_t *d, unsigned *mode) { *mode = d->index; return NVML_SUCCESS; }
int nvmlDeviceGetMigMode(device_t *d, unsigned *current, unsigned *pending) { (void)d; *current = *pending = getenv("NVML_STUB_MIG") ? NVML_DEVICE_MIG_ENABLE : NVML_DEVICE_MIG_DISABLE; return is("NVML_STUB", "old") ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS; }
int nvmlDeviceGetVirtualizationMode(device_t *d, uint64_t *mode) { (void)d; *mode = NVML_GPU_VIRTUALIZATION_MODE_PASSTHROUGH; return NVML_SUCCESS; }

int nvmlDeviceGetComputeRunningProcesses_v3(device_t *d, unsigned *count, struct c_nvmlProcessInfo_v2_t *list) {
    (void)d;
    if (!getenv("NVML_STUB_USED")) { *count = 0; return NVML_SUCCESS; }
    if (*count < 1 || !list) { *count = 1; return NVML_ERROR_INSUFFICIENT_SIZE; }
    *count = 1;
    memset(list, 0, sizeof *list);
    list->pid = 4242;
    list->usedGpuMemory = 3ull << 30;
    return NVML_SUCCESS;
}

/* An index is what nobody may go by. */
int nvmlDeviceGetHandleByIndex_v2(unsigned index, device_t **device) { (void)index, (void)device; abort(); }
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(device_t *d, device_t **parent) { (void)d, (void)parent; return NVML_ERROR_INVALID_ARGUMENT; }
int nvmlDeviceGetName(device_t *d, char *name, unsigned length) { (void)d; snprintf(name, length, "NVIDIA H200"); return NVML_SUCCESS; }
int nvmlDeviceGetUUID(device_t *d, char *uuid, unsigned length) { snprintf(uuid, length, "%s", uuids[d->index]); return NVML_SUCCESS; }

int nvmlDeviceGetPciInfo_v3(device_t *d, struct nvmlPciInfo_t *info) {
    memset(info, 0, sizeof *info);
    info->bus = buses[d->index];
    return NVML_SUCCESS;
}

int nvmlDeviceGetEnforcedPowerLimit(device_t *d, unsigned *limit) { (void)d; *limit = 700000; return NVML_SUCCESS; }
int nvmlDeviceGetEccMode(device_t *d, unsigned *current, unsigned *pending) { (void)d; *current = *pending = 1; return is("NVML_STUB", "old") ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS; }
int nvmlDeviceGetPowerUsage(device_t *d, unsigned *power) { (void)d; ANSWER(*power = 290000); }
int nvmlDeviceGetTotalEnergyConsumption(device_t *d, unsigned long long *energy) { (void)d, (void)energy; return NVML_ERROR_NOT_SUPPORTED; }
int nvmlDeviceGetClockInfo(device_t *d, unsigned type, unsigned *clock) { (void)d; ANSWER(*clock = type == NVML_CLOCK_SM ? 1980 : 3201); }
int nvmlDeviceGetTemperature(device_t *d, unsigned sensor, unsigned *value) { (void)d, (void)sensor; ANSWER(*value = 41); }
int nvmlDeviceGetUtilizationRates(device_t *d, struct c_nvmlUtilization_t *rates) { (void)d; ANSWER(rates->gpu = 73; rates->memory = 12); }
int nvmlDeviceGetMemoryInfo(device_t *d, struct c_nvmlMemory_t *m) { ANSWER(m->total = 150754820096ull; m->used = (d->index + 1ull) << 30; m->free = m->total - m->used); }

int nvmlDeviceGetCurrentClocksEventReasons(device_t *d, unsigned long long *reasons) {
    (void)d;
    if (is("NVML_STUB", "old")) return NVML_ERROR_NOT_SUPPORTED;
    /* idle and somebody's clocks hold as well, and are no throttling */
    ANSWER(*reasons = nvmlClocksEventReasonGpuIdle | (getenv("NVML_STUB_FREE") ? 0 : nvmlClocksEventReasonApplicationsClocksSetting) | (is("NVML_STUB_THROTTLE", "reason") ? nvmlClocksEventReasonSwPowerCap : 0));
}
int nvmlDeviceGetCurrentClocksThrottleReasons(device_t *d, unsigned long long *reasons) { (void)d; ANSWER(*reasons = nvmlClocksEventReasonHwSlowdown); }

static uint64_t field(unsigned ident, int *status) {
    uint64_t elapsed = now_ns() - started;
    *status = NVML_SUCCESS;
    switch (ident) {
        case NVML_FI_DEV_POWER_INSTANT: return 300000;
        case NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION: return now_ns() / 20000000u * 6000u; /* 6 J each 20 ms */
        case NVML_FI_DEV_MEMORY_TEMP: return 52;
        case NVML_FI_DEV_ECC_SBE_VOL_TOTAL: return 2;
        case NVML_FI_DEV_ECC_DBE_VOL_TOTAL: return 0;
        case NVML_FI_DEV_PERF_POLICY_POWER: return 12345;
        case NVML_FI_DEV_PERF_POLICY_THERMAL: return is("NVML_STUB_THROTTLE", "counter") ? elapsed : 99;
    }
    *status = NVML_ERROR_NOT_SUPPORTED;
    return 0;
}

int nvmlDeviceGetFieldValues(device_t *d, int count, struct c_nvmlFieldValue_t *values) {
    (void)d;
    if (is("NVML_STUB", "old")) return NVML_ERROR_NOT_SUPPORTED;
    if (lost()) return NVML_ERROR_GPU_IS_LOST;
    for (int i = 0; i < count; i++) {
        int status;
        uint64_t value = field(values[i].fieldId, &status);
        values[i].nvmlReturn = (unsigned)status;
        values[i].valueType = value > 0xffffffffu || values[i].fieldId == NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION ? NVML_VALUE_TYPE_UNSIGNED_LONG_LONG : NVML_VALUE_TYPE_UNSIGNED_INT;
        if (values[i].valueType == NVML_VALUE_TYPE_UNSIGNED_INT) values[i].value.uiVal = (unsigned)value;
        else values[i].value.ullVal = value;
    }
    return NVML_SUCCESS;
}
