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
