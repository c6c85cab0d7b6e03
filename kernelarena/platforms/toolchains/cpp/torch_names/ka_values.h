// How values cross between C++ and Python: plain structures, and two functions that Python provides.
//
// The layouts are those of platforms/toolchains/cpp/extension.py.
#pragma once
#include <stdint.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace ka {

enum Kind : int32_t { NONE, TENSOR, INTEGER, NUMBER, BOOLEAN, INTEGERS, DTYPE, ON_DEVICE, TENSORS, TEXT, FORMAT };

struct Value {
  int32_t kind = NONE;
  int32_t count = 0;  // of what `data` points to
  int64_t integer = 0;
  double number = 0;
  const void *data = nullptr;
  const char *name = nullptr;  // of the parameter, where it is given by name
};

enum { DIMENSIONS = 16, ANSWERS = 8 };

struct Described {
  int64_t handle;
  void *data;
  int32_t dtype, on_device, dim, contiguous;
  int64_t size[DIMENSIONS], stride[DIMENSIONS];
};

// Provided by Python when the library is loaded. `ask` runs a function of the framework's; it returns how many values it
// answered with, or -1 where it raised. `describe` tells of a tensor by its handle, and `forget` lets go of it.
struct Host {
  int32_t (*ask)(const char *function, const Value *given, int32_t count, Value *answers);
  void (*describe)(int64_t handle, Described *told);
  void (*forget)(int64_t handle);
};
inline Host host;

struct Raised {};  // Python raised, and knows what

struct Tensor {  // one that Python holds
  Described told;
  bool touched = false;
  ~Tensor() {
    if (host.forget) host.forget(told.handle);
  }
};
using Held = std::shared_ptr<Tensor>;

inline std::vector<std::vector<int64_t>> listed;  // handles in lists that were given, until the call has ended
inline std::vector<Held> touched;  // whose address was asked for in this call: what launches may have been handed

inline Held hold(int64_t handle) {
  auto tensor = std::make_shared<Tensor>();
  host.describe(handle, &tensor->told);
  return tensor;
}

}  // namespace ka
