// A chip that the host plays: blocks run one after the other, and the threads of a block are fibers of one thread.
//
// A fiber runs until device code makes it wait for the others of its warp, and a warp until it waits for the block, so
// that what lacks a barrier reads what is not there yet, or no more. Warps have as many lanes as `lanes` says, which is set from outside. What
// threads read of one another where the language leaves it open is all ones, a nan.
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <algorithm>

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(...)

enum hipError_t { hipSuccess = 0, hipErrorInvalidConfiguration = 9 };
typedef void *hipStream_t;

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

namespace host {

enum State { READY, AT_WARP, AT_BLOCK, ENDED };
enum : unsigned { MOST = 1024, STACK = 64 << 10 };

struct Fiber {
  ucontext_t context;
  State state;
  dim3 thread;
  uint64_t handed;  // to the other lanes of the warp
};

static int lanes = 32;
static Fiber fibers[MOST];
static char stacks[MOST][STACK];
static ucontext_t scheduler;
static unsigned running, threads;
static dim3 grid, block, block_index;
static void (*body)(void *), *kernel_of_it;
static hipError_t last;

inline void wait(State at) {
  fibers[running].state = at;
  swapcontext(&fibers[running].context, &scheduler);
}

static void fiber() {
  body(kernel_of_it);
  fibers[running].state = ENDED;  // and on to uc_link
}

// Lets those of a stretch of threads go on that wait with one another; returns whether there are any.
inline bool release(State at, unsigned from, unsigned to) {
  bool any = false;
  for (unsigned i = from; i < to; i++)
    if (fibers[i].state == at) fibers[i].state = READY, any = true;
  return any;
}

// Runs the lanes of a warp until each has ended or waits for the block. Those that wait for the warp go on without them.
inline void run_warp(unsigned from, unsigned to) {
  do {
    for (running = from; running < to; running++)
      if (fibers[running].state == READY) swapcontext(&scheduler, &fibers[running].context);
  } while (release(AT_WARP, from, to));
}

inline void run_block() {
  for (unsigned i = 0; i < threads; i++) {
    Fiber &each = fibers[i];
    each.state = READY;
    each.thread = dim3(i % block.x, i / block.x % block.y, i / (block.x * block.y));
    each.handed = ~0ull;
    getcontext(&each.context);
    each.context.uc_stack.ss_sp = stacks[i];
    each.context.uc_stack.ss_size = STACK;
    each.context.uc_link = &scheduler;
    makecontext(&each.context, fiber, 0);
  }
  const unsigned warps = (threads + lanes - 1) / lanes;
  bool backwards = block_index.x & 1;  // either order of the warps may hide that a barrier is missing
  do {
    for (unsigned i = 0; i < warps; i++) {
      const unsigned from = (backwards ? warps - 1 - i : i) * lanes;
      run_warp(from, std::min(from + lanes, threads));
    }
    backwards = !backwards;
  } while (release(AT_BLOCK, 0, threads));
}

template <typename Body>
void launch(Body kernel, dim3 of_grid, dim3 of_block, size_t = 0, hipStream_t = nullptr) {
  grid = of_grid, block = of_block, threads = block.x * block.y * block.z;
  if (threads == 0 || threads > MOST || grid.x * grid.y * grid.z == 0) return (void)(last = hipErrorInvalidConfiguration);
  body = [](void *of) { (*(Body *)of)(); };
  kernel_of_it = &kernel;
  for (unsigned z = 0; z < grid.z; z++)
    for (unsigned y = 0; y < grid.y; y++)
      for (unsigned x = 0; x < grid.x; x++) {
        block_index = dim3(x, y, z);
        run_block();
      }
}

inline int lane() { return running % lanes; }

// Hands a value to the warp and returns that of another lane; all ones, if one of the two does not take part.
template <typename T>
T exchange(uint64_t mask, T value, int from) {
  const unsigned own = running, other = own - lane() + from;
  memcpy(&fibers[own].handed, &value, sizeof value);
  wait(AT_WARP);
  const bool is_there = other < threads && fibers[other].state != ENDED && fibers[other].state != AT_BLOCK;
  if (is_there && mask >> lane() & mask >> from & 1)
    memcpy(&value, &fibers[other].handed, sizeof value);
  else
    memset(&value, 0xff, sizeof value);
  wait(AT_WARP);  // before anybody hands over the next
  return value;
}

inline bool within(int from, int width) { return from >= lane() / width * width && from < (lane() / width + 1) * width; }

}  // namespace host

extern "C" inline __attribute__((used)) void ka_lanes(int count) { host::lanes = count; }

#define warpSize (host::lanes)
#define threadIdx (host::fibers[host::running].thread)
#define blockIdx (host::block_index)
#define blockDim (host::block)
#define gridDim (host::grid)

inline void __syncthreads() { host::wait(host::AT_BLOCK); }

// HIP's are CUDA's with a mask of all lanes.
#define __shfl(...) __shfl_sync(~0ull, __VA_ARGS__)
#define __shfl_up(...) __shfl_up_sync(~0ull, __VA_ARGS__)
#define __shfl_down(...) __shfl_down_sync(~0ull, __VA_ARGS__)
#define __shfl_xor(...) __shfl_xor_sync(~0ull, __VA_ARGS__)
template <typename T>
T __shfl_sync(uint64_t mask, T value, int from, int width = warpSize) {
  return host::exchange(mask, value, host::lane() / width * width + from % width);
}
template <typename T>
T __shfl_up_sync(uint64_t mask, T value, int by, int width = warpSize) {
  const int from = host::lane() - by;
  return host::exchange(mask, value, host::within(from, width) ? from : host::lane());
}
template <typename T>
T __shfl_down_sync(uint64_t mask, T value, int by, int width = warpSize) {
  return __shfl_up_sync(mask, value, -by, width);
}
template <typename T>
T __shfl_xor_sync(uint64_t mask, T value, int lanes, int width = warpSize) {
  const int from = host::lane() ^ lanes;
  return host::exchange(mask, value, host::within(from, width) ? from : host::lane());
}
inline unsigned long long __ballot(int predicate) {
  unsigned long long all = 0;
  for (int lane = 0; lane < warpSize; lane++) all |= (unsigned long long)(__shfl((int)(predicate != 0), lane) == 1) << lane;
  return all;
}
inline int __ffs(unsigned bits) { return __builtin_ffs((int)bits); }
inline int __ffsll(unsigned long long bits) { return __builtin_ffsll((long long)bits); }

inline float __uint_as_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
inline uint32_t __float_as_uint(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
using std::max;
using std::min;

inline hipError_t hipGetLastError() {
  const hipError_t error = host::last;
  host::last = hipSuccess;
  return error;
}

enum hipDeviceAttribute_t { hipDeviceAttributeWarpSize };
inline hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t, int) { return *value = warpSize, hipSuccess; }
