// A chip that the host plays: blocks run one after the other, and the threads of a block are fibers of one thread.
//
// A fiber runs until device code makes it wait for others, at a barrier of the block or of its warp, so that what lacks
// a barrier reads what is not there yet. Warps have as many lanes as `lanes` says, which is set from outside. What
// threads read of one another where the language leaves it open is all ones, a nan.
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <algorithm>
#include <functional>

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(...)

enum hipError_t { hipSuccess = 0, hipErrorInvalidConfiguration = 9, hipErrorLaunchFailure = 719 };
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
static std::function<void()> body;
static hipError_t last;

inline void wait(State at) {
  fibers[running].state = at;
  swapcontext(&fibers[running].context, &scheduler);
}

static void fiber() {
  body();
  fibers[running].state = ENDED;  // and on to uc_link
}

// Lets those go on that all others of some stretch of threads wait with; returns whether there are any.
inline bool release(unsigned from, unsigned to, State at) {
  bool any = false;
  for (unsigned i = from; i < to; i++) {
    if (fibers[i].state != at && fibers[i].state != ENDED) return false;
    any |= fibers[i].state == at;
  }
  for (unsigned i = from; i < to; i++)
    if (fibers[i].state == at) fibers[i].state = READY;
  return any;
}

inline bool release() {
  bool any = false;
  for (unsigned from = 0; from < threads; from += lanes) any |= release(from, std::min(from + lanes, threads), AT_WARP);
  return any || release(0, threads, AT_BLOCK);
}

// Returns whether all its threads have ended; those that wait for ever are left where they are.
inline bool run_block() {
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
  bool backwards = block_index.x & 1;  // either order may hide that a barrier is missing
  do {
    for (unsigned i = 0; i < threads; i++) {
      running = backwards ? threads - 1 - i : i;
      if (fibers[running].state == READY) swapcontext(&scheduler, &fibers[running].context);
    }
    backwards = !backwards;
  } while (release());
  return std::all_of(fibers, fibers + threads, [](const Fiber &each) { return each.state == ENDED; });
}

template <typename Body>
void launch(Body kernel, dim3 of_grid, dim3 of_block, size_t = 0, hipStream_t = nullptr) {
  grid = of_grid, block = of_block, threads = block.x * block.y * block.z;
  if (threads == 0 || threads > MOST || grid.x * grid.y * grid.z == 0) return (void)(last = hipErrorInvalidConfiguration);
  body = kernel;
  for (unsigned z = 0; z < grid.z; z++)
    for (unsigned y = 0; y < grid.y; y++)
      for (unsigned x = 0; x < grid.x; x++) {
        block_index = dim3(x, y, z);
        if (!run_block()) return (void)(last = hipErrorLaunchFailure);
      }
}

inline int lane() { return running % lanes; }

// Hands a value to the warp and returns that of another lane; of one that does not take part, all ones.
template <typename T>
T exchange(T value, int from) {
  const unsigned own = running, other = own - lane() + from;
  memcpy(&fibers[own].handed, &value, sizeof value);
  wait(AT_WARP);
  if (other < threads && fibers[other].state != ENDED) memcpy(&value, &fibers[other].handed, sizeof value);
  if (other >= threads || fibers[other].state == ENDED) memset(&value, 0xff, sizeof value);
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

template <typename T>
T __shfl(T value, int from, int width = warpSize) {
  return host::exchange(value, host::lane() / width * width + from % width);
}
template <typename T>
T __shfl_up(T value, int by, int width = warpSize) {
  const int from = host::lane() - by;
  return host::exchange(value, host::within(from, width) ? from : host::lane());
}
template <typename T>
T __shfl_down(T value, int by, int width = warpSize) {
  return __shfl_up(value, -by, width);
}
template <typename T>
T __shfl_xor(T value, int mask, int width = warpSize) {
  const int from = host::lane() ^ mask;
  return host::exchange(value, host::within(from, width) ? from : host::lane());
}
inline unsigned long long __ballot(int predicate) {
  unsigned long long all = 0;
  for (int lane = 0; lane < warpSize; lane++) all |= (unsigned long long)(__shfl(predicate != 0, lane) == 1) << lane;
  return all;
}
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __popcll(unsigned long long bits) { return __builtin_popcountll(bits); }

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
