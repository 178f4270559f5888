// SPDX-License-Identifier: Apache-2.0
//
// Without a C library there is no memory to ask for, so that `new` does not link. Destructors of virtual classes name `delete` all the
// same; nothing can call it.

#define WEAK __attribute__((weak))

WEAK void operator delete(void*) noexcept {
  __builtin_trap();
}

WEAK void operator delete(void*, decltype(sizeof(0))) noexcept {
  __builtin_trap();
}

namespace std {
enum class align_val_t : decltype(sizeof(0)) {};
}

WEAK void operator delete(void*, std::align_val_t) noexcept {
  __builtin_trap();
}

WEAK void operator delete(void*, decltype(sizeof(0)), std::align_val_t) noexcept {
  __builtin_trap();
}

// What headers call where they would throw.
extern "C" [[noreturn]] void abort();

extern "C" WEAK void abort() {
  __builtin_trap();
}
