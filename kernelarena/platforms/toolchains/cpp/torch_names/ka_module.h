// Functions that an extension gives away, and how Python calls them.
#pragma once
#include <functional>
#include <utility>

namespace ka {

struct Wrong : std::runtime_error { using runtime_error::runtime_error; };  // a call that does not fit: a TypeError

// From Python.
inline double number(const Value &value) {
  if (value.kind != INTEGER && value.kind != NUMBER && value.kind != BOOLEAN) throw Wrong("a number is expected");
  return value.kind == NUMBER ? value.number : (double)value.integer;
}
template <typename T> struct Take {  // integers and enumerations
  static T from(const Value &value) {
    if (value.kind != INTEGER && value.kind != BOOLEAN && value.kind != DTYPE) throw Wrong("an integer is expected");
    return (T)value.integer;
  }
};
template <> struct Take<double> { static double from(const Value &value) { return number(value); } };
template <> struct Take<float> { static float from(const Value &value) { return (float)number(value); } };
template <> struct Take<c10::Scalar> {
  static c10::Scalar from(const Value &value) { return value.kind == INTEGER ? c10::Scalar(value.integer) : number(value); }
};
template <> struct Take<at::Tensor> {
  static at::Tensor from(const Value &value) {
    if (value.kind != TENSOR) throw Wrong("a tensor is expected");
    return at::Tensor(hold(value.integer));
  }
};
template <> struct Take<std::string> {
  static std::string from(const Value &value) {
    if (value.kind != TEXT) throw Wrong("a text is expected");
    return (const char *)value.data;
  }
};
template <typename T> struct Take<std::optional<T>> {
  static std::optional<T> from(const Value &value) {
    return value.kind == NONE ? std::nullopt : std::optional<T>(Take<T>::from(value));
  }
};
template <> struct Take<std::vector<int64_t>> {
  static std::vector<int64_t> from(const Value &value) {
    if (value.kind != INTEGERS) throw Wrong("a list of integers is expected");
    return {(const int64_t *)value.data, (const int64_t *)value.data + value.count};
  }
};
template <> struct Take<c10::IntArrayRef> {
  static c10::IntArrayRef from(const Value &value) {
    if (value.kind != INTEGERS) throw Wrong("a list of integers is expected");
    return {(const int64_t *)value.data, (size_t)value.count};
  }
};
template <> struct Take<std::vector<at::Tensor>> {
  static std::vector<at::Tensor> from(const Value &value) {
    if (value.kind != TENSORS) throw Wrong("a list of tensors is expected");
    std::vector<at::Tensor> all;
    for (int32_t i = 0; i < value.count; i++) all.emplace_back(hold(((const int64_t *)value.data)[i]));
    return all;
  }
};

struct Answer {
  std::vector<Value> values;
  std::vector<at::Tensor> kept;  // until Python has taken them
  bool many = false;             // a tuple or a list, rather than one value
  void add(const at::Tensor &tensor) { kept.push_back(tensor), values.push_back(give(tensor)); }
  template <typename T> void add(const T &value) { values.push_back(give(value)); }
  void add(const std::vector<at::Tensor> &all) {
    many = true;
    for (const auto &each : all) add(each);
  }
  template <typename... T> void add(const std::tuple<T...> &all) {
    many = true;
    std::apply([this](const T &...each) { (add(each), ...); }, all);
  }
  template <typename A, typename B> void add(const std::pair<A, B> &all) { many = true, add(all.first), add(all.second); }
};

struct Parameter {
  std::string name;
  std::optional<Value> otherwise;
};

struct Function {
  std::string name;
  size_t count;
  std::vector<Parameter> parameters;  // by name; none where nobody said
  std::function<void(const Value *, Answer &)> call;
};
inline std::vector<Function> functions;
inline Answer last_answer;

template <typename R, typename F, typename... A, size_t... I>
void invoke(const F &function, const Value *given, Answer &answer, std::tuple<A...> *, std::index_sequence<I...>) {
  std::tuple<std::decay_t<A>...> values{Take<std::decay_t<A>>::from(given[I])...};
  if constexpr (std::is_void_v<R>)
    function((A &&)std::get<I>(values)...);
  else
    answer.add(function((A &&)std::get<I>(values)...));
}

template <typename R, typename F, typename... A>
void define(const char *name, F function, std::vector<Parameter> parameters) {
  functions.push_back({name, sizeof...(A), std::move(parameters), [function](const Value *given, Answer &answer) {
                         invoke<R>(function, given, answer, (std::tuple<A...> *)nullptr, std::index_sequence_for<A...>());
                       }});
}

}  // namespace ka

namespace pybind11 {
struct none {};
}  // namespace pybind11
namespace ka {
inline Value give(pybind11::none) { return {}; }
}  // namespace ka

namespace pybind11 {

struct arg {
  ka::Parameter parameter;
  explicit arg(const char *name) : parameter{name, {}} {}
  template <typename T> arg operator=(T value) const {
    arg made = *this;
    return made.parameter.otherwise = ka::give(value), made;
  }
  arg &noconvert(bool = true) { return *this; }
};
inline arg operator""_a(const char *name, size_t) { return arg(name); }
namespace literals { using pybind11::operator""_a; }
template <typename... T> struct call_guard {};
struct gil_scoped_release {};

class module_ {
 public:
  template <typename R, typename... A, typename... Extra>
  module_ &def(const char *name, R (*function)(A...), const Extra &...extra) {
    ka::define<R, R (*)(A...), A...>(name, function, named(extra...));
    return *this;
  }
  template <typename F, typename... Extra, typename = decltype(&F::operator())>
  module_ &def(const char *name, F function, const Extra &...extra) {
    return lambda(name, function, &F::operator(), named(extra...));
  }
  template <typename T> module_ &attr(T) { return *this; }
  template <typename T> void operator=(const T &) {}
  const char *&doc() { return text; }

 private:
  const char *text = "";
  template <typename F, typename R, typename... A>
  module_ &lambda(const char *name, F function, R (F::*)(A...) const, std::vector<ka::Parameter> parameters) {
    ka::define<R, F, A...>(name, function, std::move(parameters));
    return *this;
  }
  template <typename... Extra> static std::vector<ka::Parameter> named(const Extra &...extra) {
    std::vector<ka::Parameter> found;
    (put(found, extra), ...);
    return found;
  }
  static void put(std::vector<ka::Parameter> &found, const arg &each) { found.push_back(each.parameter); }
  template <typename T> static void put(std::vector<ka::Parameter> &, const T &) {}  // documentation, policies
};
using module = module_;

}  // namespace pybind11
namespace py = pybind11;

#define PYBIND11_MODULE(name, variable, ...)              \
  static void ka_fill(pybind11::module_ &);               \
  static const bool ka_filled = [] {                      \
    pybind11::module_ made;                               \
    ka_fill(made);                                        \
    return true;                                          \
  }();                                                    \
  static void ka_fill([[maybe_unused]] pybind11::module_ &variable)

// What Python calls.
extern "C" {

void ka_extension_begin(const ka::Host *provided) { ka::host = *provided; }
int32_t ka_extension_count() { return (int32_t)ka::functions.size(); }
const char *ka_extension_name(int32_t at) {
  return ka::functions[at].name.c_str();
}

// Returns how many values the function returned (with 1 << 16 added for a tuple or a list), -1 where Python raised,
// -2 where the function threw and -3 where it cannot be called so; `said` holds why then.
int32_t ka_extension_call(int32_t at, const ka::Value *given, int32_t count, void *stream, ka::Value *answers, char *said,
                          size_t room) {
  ka::Answer &answer = ka::last_answer;
  ka::current_stream = stream;
  const ka::Function &function = ka::functions[at];
  const auto fail = [&](int32_t status, const std::string &why) { return snprintf(said, room, "%s", why.c_str()), status; };
  try {
    std::vector<ka::Value> all;
    for (int32_t i = 0; i < count && !given[i].name; i++) all.push_back(given[i]);
    for (size_t i = all.size(); i < function.parameters.size(); i++) {
      const ka::Value *named = nullptr;
      for (int32_t j = 0; j < count; j++)
        if (given[j].name && function.parameters[i].name == given[j].name) named = &given[j];
      if (!named && !function.parameters[i].otherwise) break;
      all.push_back(named ? *named : *function.parameters[i].otherwise);
    }
    if (all.size() != function.count || all.size() < (size_t)count)
      return fail(-3, c10::str(function.name, "() takes ", function.count, " arguments, and was given ", count));
    function.call(all.data(), answer);
  } catch (const ka::Raised &) {
    return -1;
  } catch (const ka::Wrong &error) {
    return fail(-3, function.name + "(): " + error.what());
  } catch (const std::exception &error) {
    return fail(-2, error.what());
  } catch (...) {
    return fail(-2, "an exception of unknown type");
  }
  if (answer.values.size() > ka::ANSWERS) return fail(-3, function.name + "() returns too many values");
  for (size_t i = 0; i < answer.values.size(); i++) answers[i] = answer.values[i];
  return (int32_t)answer.values.size() + (answer.many ? 1 << 16 : 0);
}

// Handles of the tensors whose addresses were asked for in this call.
int32_t ka_extension_touched(int64_t *handles, int32_t room) {
  int32_t count = 0;
  for (const auto &tensor : ka::touched)
    if (count < room) handles[count++] = tensor->told.handle;
  return count;
}

// Lets go of what was kept for Python until it has taken the answer.
void ka_extension_forget() {
  for (const auto &tensor : ka::touched) tensor->touched = false;
  ka::touched.clear();
  ka::listed.clear();
  ka::last_answer = ka::Answer();
}

// Python is about to end: it must not be told of the tensors that the kernel still holds.
void ka_extension_end() { ka::host.forget = nullptr; }

}  // extern "C"
