// Goes between a kernel's host code and the vendor's runtime: each launch is told of, and then takes place.
//
// A library that is to run on a device is linked with this. Its launches come here, since a library's own functions are
// found first (-Bsymbolic); everything else goes to the runtime that the process has loaded.

#if defined(KA_CUDA)
#include <cuda_runtime_api.h>
#define RT(name) cuda##name
#else
#include <hip/hip_runtime_api.h>
#define RT(name) hip##name
#endif

#include <dlfcn.h>
#include <stddef.h>

typedef RT(Error_t) Error;
typedef RT(Stream_t) Stream;

enum { FUNCTIONS = 4096 };
static struct {
  const void *function;  // as the host's code or the runtime knows it
  const char *name;
} functions[FUNCTIONS];
static int function_count;
static void (*told)(const char *name, void *stream);

static void remember(const void *function, const char *name) {
  if (function_count < FUNCTIONS) functions[function_count++] = {function, name};
}

static const char *name_of(const void *function) {
  for (int i = function_count - 1; i >= 0; i--)
    if (functions[i].function == function) return functions[i].name;
  return "";
}

static void tell(const void *function, Stream stream) {
  if (told) told(name_of(function), (void *)stream);
}

// Looked up in what is loaded for the whole process: with -Bsymbolic, RTLD_DEFAULT would find this library's own.
#define TEXT(name) #name
#define TEXT_OF(name) TEXT(name)
#define REAL(name, type) static type const forward = (type)dlsym(dlopen(nullptr, RTLD_LAZY), TEXT_OF(name))
static const Error NO_RUNTIME = RT(ErrorInitializationError);

// The runtime's own of a function that launches, called with what this one was.
#define LAUNCH(name)                                                                                          \
  typedef Error (*Launch)(decltype(function), dim3, dim3, void **, decltype(shared), Stream);                 \
  REAL(name, Launch);                                                                                         \
  tell(function, stream);                                                                                     \
  return forward ? forward(function, grid, block, arguments, shared, stream) : NO_RUNTIME

extern "C" {

// Python is told of a launch before it takes place.
void ka_watch(void (*tell_of)(const char *, void *)) { told = tell_of; }

#if defined(KA_CUDA)
void __cudaRegisterFunction(void **binary, const char *host, char *device, const char *name, int limit, void *a, void *b,
                            void *c, void *d, int *e) {
  remember(host, name);
  REAL(__cudaRegisterFunction, decltype(&__cudaRegisterFunction));
  if (forward) forward(binary, host, device, name, limit, a, b, c, d, e);
}
Error __cudaGetKernel(void **kernel, const void *host) {
  REAL(__cudaGetKernel, decltype(&__cudaGetKernel));
  const Error status = forward ? forward(kernel, host) : NO_RUNTIME;
  if (status == cudaSuccess && name_of(*kernel)[0] == 0) remember(*kernel, name_of(host));
  return status;
}
Error __cudaLaunchKernel(void *function, dim3 grid, dim3 block, void **arguments, size_t shared, Stream stream) {
  LAUNCH(__cudaLaunchKernel);
}
Error __cudaLaunchKernel_ptsz(void *function, dim3 grid, dim3 block, void **arguments, size_t shared, Stream stream) {
  LAUNCH(__cudaLaunchKernel_ptsz);
}
Error cudaLaunchKernelExC(const cudaLaunchConfig_t *how, const void *function, void **arguments) {
  typedef Error (*Launch)(const cudaLaunchConfig_t *, const void *, void **);
  REAL(cudaLaunchKernelExC, Launch);
  tell(function, how->stream);
  return forward ? forward(how, function, arguments) : NO_RUNTIME;
}
Error cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                                  Stream stream) {
  LAUNCH(cudaLaunchCooperativeKernel);
}
#else
void __hipRegisterFunction(void **binary, const void *host, char *device, const char *name, unsigned limit, void *a,
                           void *b, void *c, void *d, int *e) {
  remember(host, name);
  REAL(__hipRegisterFunction, decltype(&__hipRegisterFunction));
  if (forward) forward(binary, host, device, name, limit, a, b, c, d, e);
}
Error hipLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments, unsigned shared,
                                 Stream stream) {
  LAUNCH(hipLaunchCooperativeKernel);
}
#endif

Error RT(LaunchKernel)(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared, Stream stream) {
  LAUNCH(RT(LaunchKernel));
}

}  // extern "C"
