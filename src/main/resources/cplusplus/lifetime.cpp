// SPDX-License-Identifier: Apache-2.0
//
// What compilers call for static objects and abstract classes. An image ends with its power: static objects are never destroyed. A
// program's own functions of these names replace these.

#define WEAK __attribute__((weak))

extern "C" {
extern void* __dso_handle;
int __cxa_atexit(void (*destroy)(void*), void* object, void* library);
int __aeabi_atexit(void* object, void (*destroy)(void*), void* library);
void __cxa_pure_virtual();

WEAK void* __dso_handle = nullptr;

WEAK int __cxa_atexit(void (*)(void*), void*, void*) {
  return 0;
}

// The same by the C++ ABI for the Arm Architecture, 3.2.4.3.
WEAK int __aeabi_atexit(void*, void (*)(void*), void*) {
  return 0;
}

// A pure virtual function was called: the trap is reported with this function's name.
WEAK void __cxa_pure_virtual() {
  __builtin_trap();
}
}

// Where the C++ library's headers would throw: without exceptions the program ends, and the report has the function's name.
namespace std {
#define KILN_THROWS(name, ...)                     \
  [[noreturn]] void __throw_##name(__VA_ARGS__);   \
  WEAK void __throw_##name(__VA_ARGS__) {          \
    __builtin_trap();                              \
  }
KILN_THROWS(bad_exception)
KILN_THROWS(bad_alloc)
KILN_THROWS(bad_array_new_length)
KILN_THROWS(bad_cast)
KILN_THROWS(bad_typeid)
KILN_THROWS(bad_function_call)
KILN_THROWS(logic_error, const char*)
KILN_THROWS(domain_error, const char*)
KILN_THROWS(invalid_argument, const char*)
KILN_THROWS(length_error, const char*)
KILN_THROWS(out_of_range, const char*)
KILN_THROWS(runtime_error, const char*)
KILN_THROWS(range_error, const char*)
KILN_THROWS(overflow_error, const char*)
KILN_THROWS(underflow_error, const char*)
KILN_THROWS(out_of_range_fmt, const char*, ...)
#undef KILN_THROWS
}

// Locks of static variables in functions, which -fthreadsafe-statics asks for, as for a single thread; a scheduler's own functions replace them.
extern "C" {
int __cxa_guard_acquire(int* guard);
void __cxa_guard_release(int* guard);
void __cxa_guard_abort(int* guard);

WEAK int __cxa_guard_acquire(int* guard) {
  if ((*guard & 1) != 0) {
    return 0;
  }
  if (*guard != 0) {
    __builtin_trap();  // its own initialisation needs it, or another task was interrupted in it
  }
  *guard = 2;
  return 1;
}

WEAK void __cxa_guard_release(int* guard) {
  *guard = 1;
}

WEAK void __cxa_guard_abort(int* guard) {
  *guard = 0;
}
}
