/* SPDX-License-Identifier: Apache-2.0
 *
 * Atomic operations for which the core has no instructions, by the names that compilers call: all on Armv6-M and on RISC-V
 * without A, those of 8 bytes elsewhere. Interrupts wait meanwhile. There is one core.
 */
#include <stdbool.h>
#include <stdint.h>

#define WEAK __attribute__((weak))

#ifdef __riscv
#define MIE 8ul

static inline uint32_t lock(void) {
  uint32_t before;
  __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(before)::"memory");
  return before;
}

static inline void unlock(uint32_t before) {
  __asm__ volatile("csrs mstatus, %0" ::"r"(before & MIE) : "memory");
}
#else
static inline uint32_t lock(void) {
  uint32_t before;
  __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(before)::"memory");
  return before;
}

static inline void unlock(uint32_t before) {
  __asm__ volatile("msr primask, %0" ::"r"(before) : "memory");
}
#endif

/* The compiler knows the names themselves with other types. */
#define NAMED(name) __asm__("__atomic_" name)

#define CHANGE(name, bytes, type, expression)                                                              \
  WEAK type kiln_##name##_##bytes(volatile type* place, type value, int order) NAMED(#name "_" #bytes);    \
  WEAK type kiln_##name##_##bytes(volatile type* place, type value, int order) {                           \
    (void)order;                                                                                           \
    const uint32_t before = lock();                                                                        \
    const type old = *place;                                                                               \
    *place = (type)(expression);                                                                           \
    unlock(before);                                                                                        \
    return old;                                                                                            \
  }

#define ACCESS(bytes, type)                                                                                \
  WEAK type kiln_load_##bytes(const volatile type* place, int order) NAMED("load_" #bytes);                \
  WEAK type kiln_load_##bytes(const volatile type* place, int order) {                                     \
    (void)order;                                                                                           \
    const uint32_t before = lock();                                                                        \
    const type value = *place;                                                                             \
    unlock(before);                                                                                        \
    return value;                                                                                          \
  }                                                                                                        \
  WEAK void kiln_store_##bytes(volatile type* place, type value, int order) NAMED("store_" #bytes);        \
  WEAK void kiln_store_##bytes(volatile type* place, type value, int order) {                              \
    (void)order;                                                                                           \
    const uint32_t before = lock();                                                                        \
    *place = value;                                                                                        \
    unlock(before);                                                                                        \
  }                                                                                                        \
  WEAK bool kiln_compare_exchange_##bytes(                                                                 \
      volatile type* place, type* expected, type value, int yes, int no) NAMED("compare_exchange_" #bytes); \
  WEAK bool kiln_compare_exchange_##bytes(volatile type* place, type* expected, type value, int yes, int no) { \
    (void)yes;                                                                                             \
    (void)no;                                                                                              \
    const uint32_t before = lock();                                                                        \
    const type old = *place;                                                                               \
    const bool is_equal = old == *expected;                                                                \
    if (is_equal) {                                                                                        \
      *place = value;                                                                                      \
    } else {                                                                                               \
      *expected = old;                                                                                     \
    }                                                                                                      \
    unlock(before);                                                                                        \
    return is_equal;                                                                                       \
  }                                                                                                        \
  CHANGE(exchange, bytes, type, value)                                                                     \
  CHANGE(fetch_add, bytes, type, old + value)                                                              \
  CHANGE(fetch_sub, bytes, type, old - value)                                                              \
  CHANGE(fetch_and, bytes, type, old & value)                                                              \
  CHANGE(fetch_or, bytes, type, old | value)                                                               \
  CHANGE(fetch_xor, bytes, type, old ^ value)

ACCESS(1, uint8_t)
ACCESS(2, uint16_t)
ACCESS(4, uint32_t)
ACCESS(8, uint64_t)
