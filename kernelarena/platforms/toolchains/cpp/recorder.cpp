// A runtime without a device: host code that is linked with it runs, and its launches are written down.
//
// The compile gate links a kernel with this in place of the vendor's runtime. Every function answers as the chip would
// that it is told of, and a launch that the chip would refuse is refused with the same error. Memory that is allocated
// is an address that nothing may be read from, as device memory is to the host. A function that is not here stays
// undefined, and loading the library says which.
//
// Where an emulator of the chip is there (ka_run), launches go to it, and memory is memory.

#if defined(KA_CUDA)
#include <cuda_runtime_api.h>
#define RT(name) cuda##name
#define RT_OWN(name) __cuda##name
#define RT_CODE(cuda, hip) cuda
#else
#include <hip/hip_runtime_api.h>
#define RT(name) hip##name
#define RT_OWN(name) __hip##name
#define RT_CODE(cuda, hip) hip
#endif

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef RT(Error_t) Error;
typedef RT(Stream_t) Stream;
typedef RT_CODE(unsigned, hipError_t) Pushed;  // what the two declare it to return
typedef RT_CODE(void, hipStream_t) Popped;

static const Error OK = RT(Success);
static const Error BAD_VALUE = RT(ErrorInvalidValue);
static const Error BAD_CONFIGURATION = RT(ErrorInvalidConfiguration);
static const Error NO_FUNCTION = RT_CODE(cudaErrorInvalidDeviceFunction, hipErrorInvalidDeviceFunction);
static const Error LAUNCH_FAILED = RT_CODE(cudaErrorLaunchFailure, hipErrorLaunchFailure);
static const Error NO_MEMORY = RT_CODE(cudaErrorMemoryAllocation, hipErrorOutOfMemory);

// The layouts of Chip and Launch are those of platforms/toolchains/cpp/recorded.py.
struct Chip {
  char name[256];
  char arch[64];
  int64_t memory, l2;
  int32_t warp, threads, shared, shared_most, shared_all, multiprocessors, threads_all, registers_all, major, minor;
  int64_t grid[3];
};

struct Launch {
  const char *function;
  uint32_t grid[3], block[3];
  uint64_t shared;
  uint64_t allowed;  // of dynamic shared memory, at that time
  int32_t error;
};

struct Function {
  const void *host;
  const char *name;
  uint64_t allowed;
};

enum { FUNCTIONS = 4096, LAUNCHES = 65536, NESTED = 16 };

static Chip chip;
static Function functions[FUNCTIONS];
static int function_count;
static Launch launches[LAUNCHES];
static int launch_count;
static Error last;

typedef int (*Run)(const char *name, const uint32_t *grid, const uint32_t *block, uint64_t shared, void **arguments);
typedef void (*Reserved)(void *address, size_t size);
static Run run;
static Reserved reserved;

struct Configuration {
  dim3 grid, block;
  size_t shared;
  Stream stream;
};
static thread_local Configuration configurations[NESTED];
static thread_local int configured;

static Error fail(Error error) {
  last = error;
  return error;
}

static Function *find(const void *host) {
  for (int i = 0; i < function_count; i++)
    if (functions[i].host == host) return &functions[i];
  return nullptr;
}

static Error launch(Function *function, dim3 grid, dim3 block, void **arguments, size_t shared) {
  if (function == nullptr) return fail(NO_FUNCTION);
  const uint64_t threads = (uint64_t)block.x * block.y * block.z;
  const uint64_t allowed = function->allowed ? function->allowed : (uint64_t)chip.shared;
  Error error = OK;
  if (threads == 0 || threads > (uint64_t)chip.threads || grid.x == 0 || grid.y == 0 || grid.z == 0 ||
      grid.x > (uint64_t)chip.grid[0] || grid.y > (uint64_t)chip.grid[1] || grid.z > (uint64_t)chip.grid[2])
    error = BAD_CONFIGURATION;
  else if (shared > allowed)
    error = BAD_VALUE;
  if (launch_count < LAUNCHES) {
    Launch &seen = launches[launch_count];
    seen.function = function->name;
    seen.grid[0] = grid.x, seen.grid[1] = grid.y, seen.grid[2] = grid.z;
    seen.block[0] = block.x, seen.block[1] = block.y, seen.block[2] = block.z;
    seen.shared = shared;
    seen.allowed = allowed;
    seen.error = (int32_t)error;
  }
  launch_count++;
  if (error != OK || run == nullptr) return error == OK ? OK : fail(error);
  const uint32_t blocks[3] = {grid.x, grid.y, grid.z}, items[3] = {block.x, block.y, block.z};
  return run(function->name, blocks, items, shared, arguments) == 0 ? OK : fail(LAUNCH_FAILED);
}

static Error reserve(void **address, size_t size) {
  if (address == nullptr) return fail(BAD_VALUE);
  if (size > (uint64_t)chip.memory) return fail(NO_MEMORY);
  const int access = run ? PROT_READ | PROT_WRITE : PROT_NONE;
  void *pages = mmap(nullptr, size ? size : 1, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return fail(NO_MEMORY);
  if (reserved) reserved(pages, size);
  *address = pages;
  return OK;
}

template <typename Properties>
static void describe(Properties *told) {
  memset(told, 0, sizeof *told);
  snprintf(told->name, sizeof told->name, "%s", chip.name);
#if !defined(KA_CUDA)
  snprintf(told->gcnArchName, sizeof told->gcnArchName, "%s", chip.arch);
#endif
  told->totalGlobalMem = (size_t)chip.memory;
  told->sharedMemPerBlock = (size_t)chip.shared;
  told->regsPerBlock = chip.registers_all;
  told->warpSize = chip.warp;
  told->maxThreadsPerBlock = chip.threads;
  for (int i = 0; i < 3; i++) told->maxGridSize[i] = (int)chip.grid[i];
  told->maxThreadsDim[0] = told->maxThreadsDim[1] = chip.threads;
  told->maxThreadsDim[2] = RT_CODE(64, chip.threads);
  told->major = chip.major;
  told->minor = chip.minor;
  told->multiProcessorCount = chip.multiprocessors;
  told->l2CacheSize = (int)chip.l2;
  told->maxThreadsPerMultiProcessor = chip.threads_all;
#if defined(KA_CUDA)
  told->sharedMemPerBlockOptin = (size_t)chip.shared_most;
  told->sharedMemPerMultiprocessor = (size_t)chip.shared_all;
  told->regsPerMultiprocessor = chip.registers_all;
#endif
}

extern "C" {

// Of the gate.
void ka_begin(const Chip *of) { chip = *of; }
void ka_run(Run launches_go_to, Reserved memory_is_told_of) { run = launches_go_to, reserved = memory_is_told_of; }
void ka_forget() { launch_count = 0, last = OK; }
const Launch *ka_launches() { return launches; }
int ka_kept() { return launch_count < LAUNCHES ? launch_count : LAUNCHES; }

// What compilers emit calls of.
void **RT_OWN(RegisterFatBinary)(const void *) {
  static void *handle;
  return &handle;
}
void RT_OWN(RegisterFatBinaryEnd)(void **) {}
void RT_OWN(UnregisterFatBinary)(void **) {}
char RT_OWN(InitModule)(void **) { return 0; }
void RT_OWN(RegisterVar)(void **, char *, char *, const char *, int, size_t, int, int) {}
void RT_OWN(RegisterManagedVar)(void **, void **, char *, const char *, int, size_t, int, int) {}
void RT_OWN(RegisterFunction)(void **, const void *host, char *, const char *name, int, void *, void *, void *, void *,
                              int *) {
  if (function_count < FUNCTIONS) functions[function_count++] = {host, name, 0};
}
Pushed RT_OWN(PushCallConfiguration)(dim3 grid, dim3 block, size_t shared, Stream stream) {
  if (configured == NESTED) return (Pushed)BAD_CONFIGURATION;
  configurations[configured++] = {grid, block, shared, stream};
  return (Pushed)0;
}
Error RT_OWN(PopCallConfiguration)(dim3 *grid, dim3 *block, size_t *shared, Popped *stream) {
  if (configured == 0) return fail(BAD_CONFIGURATION);
  const Configuration &top = configurations[--configured];
  *grid = top.grid, *block = top.block, *shared = top.shared;
  *(Stream *)stream = top.stream;
  return OK;
}
#if defined(KA_CUDA)
Error __cudaGetKernel(void **kernel, const void *host) {
  *kernel = find(host);
  return *kernel == nullptr ? fail(NO_FUNCTION) : OK;
}
Error __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, Stream) {
  return launch((Function *)kernel, grid, block, arguments, shared);
}
Error __cudaLaunchKernel_ptsz(void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, Stream) {
  return launch((Function *)kernel, grid, block, arguments, shared);
}
#endif

// What host code calls.
Error RT(LaunchKernel)(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared, Stream) {
  return launch(find(host), grid, block, arguments, shared);
}
Error RT(LaunchCooperativeKernel)(const void *host, dim3 grid, dim3 block, void **arguments,
                                  RT_CODE(size_t, unsigned) shared, Stream) {
  return launch(find(host), grid, block, arguments, shared);
}
Error RT(FuncSetAttribute)(const void *host, RT(FuncAttribute) attribute, int value) {
  Function *function = find(host);
  if (function == nullptr) return fail(NO_FUNCTION);
  if (attribute != RT(FuncAttributeMaxDynamicSharedMemorySize)) return OK;
  if (value < 0 || value > chip.shared_most) return fail(BAD_VALUE);
  function->allowed = (uint64_t)value;
  return OK;
}
Error RT(FuncSetCacheConfig)(const void *, RT_CODE(cudaFuncCache, hipFuncCache_t)) { return OK; }
Error RT(FuncGetAttributes)(RT(FuncAttributes) *told, const void *host) {
  if (find(host) == nullptr) return fail(NO_FUNCTION);
  memset(told, 0, sizeof *told);
  told->maxThreadsPerBlock = chip.threads;
  return OK;
}
Error RT(OccupancyMaxActiveBlocksPerMultiprocessor)(int *blocks, const void *, int threads, size_t shared) {
  if (threads < 1 || threads > chip.threads) return fail(BAD_VALUE);
  *blocks = chip.threads_all / threads;
  if (shared > 0 && (int)(chip.shared_all / shared) < *blocks) *blocks = (int)(chip.shared_all / shared);
  return OK;
}
Error RT(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(int *blocks, const void *host, int threads, size_t shared,
                                                             unsigned) {
  return RT(OccupancyMaxActiveBlocksPerMultiprocessor)(blocks, host, threads, shared);
}

Error RT(GetLastError)() {
  const Error error = last;
  last = OK;
  return error;
}
Error RT(PeekAtLastError)() { return last; }
const char *RT(GetErrorName)(Error error) {
  if (error == OK) return RT_CODE("cudaSuccess", "hipSuccess");
  if (error == BAD_VALUE) return RT_CODE("cudaErrorInvalidValue", "hipErrorInvalidValue");
  if (error == BAD_CONFIGURATION) return RT_CODE("cudaErrorInvalidConfiguration", "hipErrorInvalidConfiguration");
  if (error == NO_FUNCTION) return RT_CODE("cudaErrorInvalidDeviceFunction", "hipErrorInvalidDeviceFunction");
  if (error == NO_MEMORY) return RT_CODE("cudaErrorMemoryAllocation", "hipErrorOutOfMemory");
  return "an error of the kernel's own";
}
const char *RT(GetErrorString)(Error error) { return RT(GetErrorName)(error); }

Error RT(GetDevice)(int *device) { return *device = 0, OK; }
Error RT(SetDevice)(int device) { return device == 0 ? OK : fail(BAD_VALUE); }
Error RT(GetDeviceCount)(int *count) { return *count = 1, OK; }
Error RT(DeviceSynchronize)() { return OK; }
Error RT(StreamSynchronize)(Stream) { return OK; }
#if defined(KA_CUDA)
Error cudaGetDeviceProperties(cudaDeviceProp *told, int) { return describe(told), OK; }
Error cudaGetDeviceProperties_v2(cudaDeviceProp *told, int) { return describe(told), OK; }
#elif defined(hipGetDeviceProperties)  // since ROCm 6 a macro for the version of the structure
Error hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *told, int) { return describe(told), OK; }
#else
Error hipGetDeviceProperties(hipDeviceProp_t *told, int) { return describe(told), OK; }
#endif
Error RT(DeviceGetAttribute)(int *value, RT_CODE(cudaDeviceAttr, hipDeviceAttribute_t) attribute, int) {
  switch (attribute) {
    case RT_CODE(cudaDevAttrMultiProcessorCount, hipDeviceAttributeMultiprocessorCount):
      return *value = chip.multiprocessors, OK;
    case RT_CODE(cudaDevAttrMaxThreadsPerBlock, hipDeviceAttributeMaxThreadsPerBlock):
      return *value = chip.threads, OK;
    case RT_CODE(cudaDevAttrWarpSize, hipDeviceAttributeWarpSize):
      return *value = chip.warp, OK;
    case RT_CODE(cudaDevAttrMaxSharedMemoryPerBlock, hipDeviceAttributeMaxSharedMemoryPerBlock):
      return *value = chip.shared, OK;
    case RT_CODE(cudaDevAttrMaxThreadsPerMultiProcessor, hipDeviceAttributeMaxThreadsPerMultiProcessor):
      return *value = chip.threads_all, OK;
    case RT_CODE(cudaDevAttrComputeCapabilityMajor, hipDeviceAttributeComputeCapabilityMajor):
      return *value = chip.major, OK;
    case RT_CODE(cudaDevAttrComputeCapabilityMinor, hipDeviceAttributeComputeCapabilityMinor):
      return *value = chip.minor, OK;
#if defined(KA_CUDA)
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return *value = chip.shared_most, OK;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return *value = chip.shared_all, OK;
#endif
    default:
      return *value = 0, OK;
  }
}

Error RT(Malloc)(void **address, size_t size) { return reserve(address, size); }
Error RT(MallocAsync)(void **address, size_t size, Stream) { return reserve(address, size); }
Error RT(Free)(void *) { return OK; }
Error RT(FreeAsync)(void *, Stream) { return OK; }
Error RT(Memset)(void *to, int value, size_t size) {
  if (run) memset(to, value, size);
  return OK;
}
Error RT(MemsetAsync)(void *to, int value, size_t size, Stream) { return RT(Memset)(to, value, size); }
Error RT(Memcpy)(void *to, const void *from, size_t size, RT(MemcpyKind)) {
  if (run) memmove(to, from, size);
  return OK;
}
Error RT(MemcpyAsync)(void *to, const void *from, size_t size, RT(MemcpyKind) kind, Stream) {
  return RT(Memcpy)(to, from, size, kind);
}

}  // extern "C"
