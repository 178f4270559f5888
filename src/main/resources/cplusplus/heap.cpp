// SPDX-License-Identifier: Apache-2.0
//
// `new` and `delete` from the C library's memory. Without exceptions `new` cannot fail: a trap ends the program when memory is used up.

#include <stdlib.h>

#define WEAK __attribute__((weak))

WEAK void* operator new(decltype(sizeof(0)) bytes) {
  void* memory = malloc(bytes != 0 ? bytes : 1);
  if (memory == nullptr) {
    __builtin_trap();
  }
  return memory;
}

WEAK void* operator new[](decltype(sizeof(0)) bytes) {
  return operator new(bytes);
}

WEAK void operator delete(void* memory) noexcept {
  free(memory);
}

WEAK void operator delete(void* memory, decltype(sizeof(0))) noexcept {
  free(memory);
}

WEAK void operator delete[](void* memory) noexcept {
  free(memory);
}

WEAK void operator delete[](void* memory, decltype(sizeof(0))) noexcept {
  free(memory);
}

// Static objects with a pure virtual function: the trap is reported with this function's name.
extern "C" void __cxa_pure_virtual();

extern "C" WEAK void __cxa_pure_virtual() {
  __builtin_trap();
}
