/* A stand-in for libamd_smi.so: the host that AMD_STUB names, with figures that follow from the time alone.
 *
 *   spx      two whole MI300X, the one asked for second, so that an index would find the wrong one
 *   cpx      one MI300X of eight partitions; the chip answers through the first
 *   vf       a virtual function: memory, and nothing else
 *   mi250    no residency counters, average power instead of current power, one flag for throttling
 *   single   no table of metrics: every value from a call of its own
 *   vanish   as spx, until AMD_STUB_FOR milliseconds have passed
 *   hang     as vanish, but the calls never return
 *   mute     answers no question
 *   none     no driver
 *
 * AMD_STUB_THROTTLE names a residency counter that grows; AMD_STUB_LEVEL is the number of a performance level;
 * AMD_STUB_USED has a process of number 4242 hold 3 GiB. Power is 400 W in the metrics' table; energy is kept in steps
 * of 2^-16 J and updated every millisecond.
 */
#include "amd_smi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define POWER 400

static uint64_t started;
static int sockets, per_socket;
static uintptr_t processors[64];

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int is(const char *name) {
    const char *mode = getenv("AMD_STUB");
    return mode && !strcmp(mode, name);
}

/* Whether the device is gone; every query of it asks. */
static int gone(void) {
    const char *after = getenv("AMD_STUB_FOR");
    if (!(is("vanish") || is("hang")) || !after || now_ns() - started < (uint64_t)atoll(after) * 1000000u) return 0;
    while (is("hang")) pause();
    return 1;
}

static unsigned index_of(void *handle) { return (unsigned)((uintptr_t *)handle - processors); }
static unsigned partition_of(void *handle) { return is("cpx") ? index_of(handle) : 0; }

/* Status of a query that only a chip's own firmware answers. */
static uint32_t firmware(void *handle) {
    if (gone()) return AMDSMI_STATUS_FILE_ERROR;
    if (is("vf") || is("mute")) return AMDSMI_STATUS_NOT_SUPPORTED;
    return partition_of(handle) ? AMDSMI_STATUS_NOT_SUPPORTED : AMDSMI_STATUS_SUCCESS;
}

uint32_t amdsmi_init(uint64_t flags) {
    if (flags != AMDSMI_INIT_AMD_GPUS) return AMDSMI_STATUS_INVAL;
    if (is("none")) return AMDSMI_STATUS_DRIVER_NOT_LOADED;
    puts("a library that talks on stdout");
    fflush(stdout);
    started = now_ns();
    sockets = is("cpx") || is("vf") || is("mute") ? 1 : 2;
    per_socket = is("cpx") ? 8 : 1;
    return AMDSMI_STATUS_SUCCESS;
}

uint32_t amdsmi_shut_down(void) { return AMDSMI_STATUS_SUCCESS; }

uint32_t amdsmi_get_socket_handles(uint32_t *count, void **handles) {
    if (handles)
        for (int i = 0; i < sockets; i++) handles[i] = &processors[i * per_socket];
    *count = (uint32_t)sockets;
    return AMDSMI_STATUS_SUCCESS;
}

uint32_t amdsmi_get_processor_handles(void *socket, uint32_t *count, void **handles) {
    if (handles)
        for (int i = 0; i < per_socket; i++) handles[i] = (uintptr_t *)socket + i;
    *count = (uint32_t)per_socket;
    return AMDSMI_STATUS_SUCCESS;
}

uint32_t amdsmi_get_gpu_device_bdf(void *handle, union union_amdsmi_bdf_t *bdf) {
    unsigned index = index_of(handle);
    bdf->as_uint = 0;
    bdf->struct_amdsmi_bdf_t.domain_number = 1;
    bdf->struct_amdsmi_bdf_t.bus_number = is("cpx") ? 0x85 : 0xe5 - 0x60 * index; /* the second is at 85 */
    bdf->struct_amdsmi_bdf_t.device_number = 0;
    bdf->struct_amdsmi_bdf_t.function_number = partition_of(handle) & 7;
    return AMDSMI_STATUS_SUCCESS;
}

uint32_t amdsmi_get_gpu_device_uuid(void *handle, uint32_t *length, char *uuid) {
    *length = (uint32_t)snprintf(uuid, *length, "%02xff74a1-0000-1000-80c2-8afe5b6c1a00", index_of(handle));
    return AMDSMI_STATUS_SUCCESS;
}

uint32_t amdsmi_get_gpu_asic_info(void *handle, struct struct_amdsmi_asic_info_t *info) {
    memset(info, 0, sizeof *info);
    strcpy(info->market_name, is("mi250") ? "AMD Instinct MI250X" : is("vf") ? "AMD Instinct MI300X VF" : "AMD Instinct MI300X");
    snprintf(info->asic_serial, sizeof info->asic_serial, "0xc28afe5b6c1a0e%02x", index_of(handle));
    return AMDSMI_STATUS_SUCCESS;
}

uint32_t amdsmi_get_lib_version(struct struct_amdsmi_version_t *version) {
    memset(version, 0, sizeof *version);
    version->major = 26;
    version->release = 1;
    static char build[] = "26.0.1";
    version->build = (void *)build;
    return AMDSMI_STATUS_SUCCESS;
}

static uint64_t energy_steps(void) { return now_ns() / 1000000u * POWER * 65536u / 1000u; }

uint32_t amdsmi_get_gpu_metrics_info(void *handle, struct struct_amdsmi_gpu_metrics_t *m) {
    uint32_t status = firmware(handle);
    if (status || is("single")) return status ? status : AMDSMI_STATUS_NOT_SUPPORTED;
    memset(m, 0xff, sizeof *m); /* all ones: not kept */
    m->energy_accumulator = energy_steps();
    m->temperature_hotspot = 61;
    m->temperature_mem = 48;
    m->average_gfx_activity = 87;
    m->average_umc_activity = 35;
    m->current_uclk = 1300;
    if (is("mi250")) {
        m->average_socket_power = POWER;
        m->current_gfxclk = 1700;
        m->throttle_status = 0xffffffffu;
        m->indep_throttle_status = getenv("AMD_STUB_THROTTLE") ? 4 : 0;
        return AMDSMI_STATUS_SUCCESS;
    }
    m->current_socket_power = POWER;
    m->temperature_edge = 0xffff;
    for (int die = 0; die < 8; die++) m->current_gfxclks[die] = (uint16_t)(2100 - (die & 1) * 40);
    uint64_t grown = (now_ns() - started) / 1000000u;
    const char *why = getenv("AMD_STUB_THROTTLE");
    m->accumulation_counter = grown;
#define RESIDENCY(name) m->name = 7 + (why && !strcmp(why, #name) ? grown : 0)
    RESIDENCY(prochot_residency_acc);
    RESIDENCY(ppt_residency_acc);
    RESIDENCY(socket_thm_residency_acc);
    RESIDENCY(vr_thm_residency_acc);
    RESIDENCY(hbm_thm_residency_acc);
    return AMDSMI_STATUS_SUCCESS;
}

static uint32_t power(void *handle, struct struct_amdsmi_power_info_t *info) {
    uint32_t status = firmware(handle);
    if (status) return status;
    memset(info, 0, sizeof *info);
    info->current_socket_power = is("mi250") ? 0xffff : POWER;
    info->average_socket_power = is("mi250") ? POWER : 0xffff;
    info->power_limit = 750;
    return AMDSMI_STATUS_SUCCESS;
}

uint32_t amdsmi_get_power_info(void *handle, struct struct_amdsmi_power_info_t *info) { return power(handle, info); }
#ifdef POWER_INFO_V2
uint32_t amdsmi_get_power_info_v2(void *handle, uint32_t sensor, struct struct_amdsmi_power_info_t *info) {
    return sensor ? AMDSMI_STATUS_INVAL : power(handle, info);
}
#endif

uint32_t amdsmi_get_energy_count(void *handle, uint64_t *steps, float *resolution, uint64_t *timestamp) {
    uint32_t status = firmware(handle);
    if (status) return status;
    *steps = energy_steps();
    *resolution = 15.3f; /* as the library rounds 15.259 */
    *timestamp = now_ns();
    return AMDSMI_STATUS_SUCCESS;
}

uint32_t amdsmi_get_clock_info(void *handle, uint32_t type, struct struct_amdsmi_clk_info_t *info) {
    if (gone()) return AMDSMI_STATUS_FILE_ERROR;
    if (is("vf") || is("mute")) return AMDSMI_STATUS_NOT_SUPPORTED;
    if (type == AMDSMI_CLK_TYPE_MEM && partition_of(handle)) return AMDSMI_STATUS_NOT_SUPPORTED;
    memset(info, 0, sizeof *info);
    info->clk = type == AMDSMI_CLK_TYPE_MEM ? 1300 : 2000 + partition_of(handle);
    return AMDSMI_STATUS_SUCCESS;
}

uint32_t amdsmi_get_temp_metric(void *handle, uint32_t sensor, uint32_t metric, int64_t *value) {
    uint32_t status = firmware(handle);
    if (status) return status;
    if (metric != AMDSMI_TEMP_CURRENT || sensor == AMDSMI_TEMPERATURE_TYPE_EDGE) return AMDSMI_STATUS_NOT_SUPPORTED;
    *value = sensor == AMDSMI_TEMPERATURE_TYPE_VRAM ? 48 : 61;
    return AMDSMI_STATUS_SUCCESS;
}

uint32_t amdsmi_get_gpu_activity(void *handle, struct struct_amdsmi_engine_usage_t *usage) {
    if (gone()) return AMDSMI_STATUS_FILE_ERROR;
    if (is("vf") || is("mute")) return AMDSMI_STATUS_NOT_SUPPORTED;
    memset(usage, 0, sizeof *usage);
    usage->gfx_activity = 10 + partition_of(handle);
    usage->umc_activity = is("cpx") ? 0xffff : 35;
    return AMDSMI_STATUS_SUCCESS;
}

uint32_t amdsmi_get_gpu_memory_usage(void *handle, uint32_t type, uint64_t *used) {
    if (gone()) return AMDSMI_STATUS_FILE_ERROR;
    if (is("mute") || type != AMDSMI_MEM_TYPE_VRAM) return AMDSMI_STATUS_NOT_SUPPORTED;
    *used = (uint64_t)(index_of(handle) + 1) << 30;
    return AMDSMI_STATUS_SUCCESS;
}

uint32_t amdsmi_get_gpu_total_ecc_count(void *handle, struct struct_amdsmi_error_count_t *errors) {
    uint32_t status = firmware(handle);
    if (status) return status;
    memset(errors, 0, sizeof *errors);
    errors->correctable_count = 3;
    return AMDSMI_STATUS_SUCCESS;
}

uint32_t amdsmi_get_gpu_ecc_enabled(void *handle, uint64_t *blocks) {
    *blocks = 1;
    return firmware(handle);
}

static uint32_t mode(void *handle, const char *name, char *text, uint32_t length) {
    if (gone()) return AMDSMI_STATUS_FILE_ERROR;
    if (is("vf") || is("mute") || is("mi250") || partition_of(handle)) return AMDSMI_STATUS_NOT_SUPPORTED;
    snprintf(text, length, "%s", name);
    return AMDSMI_STATUS_SUCCESS;
}

uint32_t amdsmi_get_gpu_compute_partition(void *handle, char *text, uint32_t length) {
    return mode(handle, is("cpx") ? "CPX" : "SPX", text, length);
}

uint32_t amdsmi_get_gpu_memory_partition(void *handle, char *text, uint32_t length) {
    return mode(handle, is("cpx") ? "NPS4" : "NPS1", text, length);
}

uint32_t amdsmi_get_gpu_perf_level(void *handle, uint32_t *level) {
    const char *given = getenv("AMD_STUB_LEVEL");
    *level = given ? (uint32_t)atoi(given) : AMDSMI_DEV_PERF_LEVEL_AUTO;
    return firmware(handle);
}

uint32_t amdsmi_get_gpu_virtualization_mode(void *handle, uint32_t *mode) {
    if (gone()) return AMDSMI_STATUS_FILE_ERROR;
    if (is("mute") || partition_of(handle)) return AMDSMI_STATUS_NOT_SUPPORTED;
    *mode = is("vf") ? AMDSMI_VIRTUALIZATION_MODE_GUEST : AMDSMI_VIRTUALIZATION_MODE_BAREMETAL;
    return AMDSMI_STATUS_SUCCESS;
}

uint32_t amdsmi_get_gpu_driver_info(void *handle, struct struct_amdsmi_driver_info_t *info) {
    (void)handle;
    if (gone()) return AMDSMI_STATUS_FILE_ERROR;
    memset(info, 0, sizeof *info);
    strcpy(info->driver_name, "amdgpu");
    strcpy(info->driver_version, "6.14.14");
    return AMDSMI_STATUS_SUCCESS;
}

uint32_t amdsmi_get_gpu_process_list(void *handle, uint32_t *count, struct struct_amdsmi_proc_info_t *list) {
    (void)handle;
    if (gone()) return AMDSMI_STATUS_FILE_ERROR;
    if (is("mute") || *count < 1) return AMDSMI_STATUS_NOT_SUPPORTED;
    *count = getenv("AMD_STUB_USED") ? 1 : 0;
    if (*count) {
        memset(list, 0, sizeof *list);
        list->pid = 4242;
        list->mem = 3ull << 30;
    }
    return AMDSMI_STATUS_SUCCESS;
}

/* It sleeps for 100 ms in the real library: whoever samples with it disturbs its own rate. */
uint32_t amdsmi_get_violation_status(void *handle, struct struct_amdsmi_violation_status_t *status) {
    (void)handle, (void)status;
    abort();
}
