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

namespace std {
struct nothrow_t {
  explicit nothrow_t() = default;
};
extern WEAK const nothrow_t nothrow;
const nothrow_t nothrow{};
enum class align_val_t : decltype(sizeof(0)) {};
}

WEAK void* operator new(decltype(sizeof(0)) bytes, const std::nothrow_t&) noexcept {
  return malloc(bytes != 0 ? bytes : 1);
}

WEAK void* operator new[](decltype(sizeof(0)) bytes, const std::nothrow_t&) noexcept {
  return malloc(bytes != 0 ? bytes : 1);
}

// More alignment than malloc's: the memory before the object says where the block begins.
WEAK void* operator new(decltype(sizeof(0)) bytes, std::align_val_t alignment) {
  const __UINTPTR_TYPE__ unit = static_cast<__UINTPTR_TYPE__>(alignment);
  char* block = static_cast<char*>(operator new(bytes + unit + sizeof(void*)));
  const __UINTPTR_TYPE__ first = reinterpret_cast<__UINTPTR_TYPE__>(block) + sizeof(void*);
  void** object = reinterpret_cast<void**>((first + unit - 1) & ~(unit - 1));
  object[-1] = block;
  return object;
}

WEAK void* operator new[](decltype(sizeof(0)) bytes, std::align_val_t alignment) {
  return operator new(bytes, alignment);
}

WEAK void operator delete(void* memory, std::align_val_t) noexcept {
  if (memory != nullptr) {
    free(static_cast<void**>(memory)[-1]);
  }
}

WEAK void operator delete(void* memory, decltype(sizeof(0)), std::align_val_t alignment) noexcept {
  operator delete(memory, alignment);
}

WEAK void operator delete[](void* memory, std::align_val_t alignment) noexcept {
  operator delete(memory, alignment);
}

WEAK void operator delete[](void* memory, decltype(sizeof(0)), std::align_val_t alignment) noexcept {
  operator delete(memory, alignment);
}

// Static objects with a pure virtual function: the trap is reported with this function's name.
extern "C" void __cxa_pure_virtual();

extern "C" WEAK void __cxa_pure_virtual() {
  __builtin_trap();
}
