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
