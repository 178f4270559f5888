/* SPDX-License-Identifier: Apache-2.0
 *
 * How deep an image's stack went. The start-up code paints the stack before anything uses it; what is painted still was never reached.
 * A board with start-up code of its own that does the same, and defines kiln_stack_used, reports it too.
 */
#ifndef KILN_STACK_H_
#define KILN_STACK_H_

#include <stdint.h>

#define KILN_STACK_PAINT 0xc5a53c5a

extern uint32_t __stack_bottom[];
extern uint32_t __stack_top[];

/* Below the bottom, up to it: 32 bytes that nothing may write. A linker script without this symbol has none. */
extern uint32_t __stack_guard[] __attribute__((weak));

/* Bytes below the guard in which nothing lies that can be written: absent or 0 if that is not known. */
extern uint8_t __stack_guard_below[] __attribute__((weak));

/* The deepest use so far in bytes; more than the stack has if the guard was overwritten. Weak: other start-up code need not have it. */
uint32_t kiln_stack_used(void) __attribute__((weak));

static inline uint32_t* kiln_stack_lowest(void) {
  return __stack_guard != 0 ? __stack_guard : __stack_bottom;
}

/* The body of kiln_stack_used. */
static inline uint32_t kiln_stack_painted_over(void) {
  const volatile uint32_t* word = kiln_stack_lowest();
  while (word < __stack_top && *word == KILN_STACK_PAINT) {
    ++word;
  }
  return (uint32_t)((uintptr_t)__stack_top - (uintptr_t)word);
}

#endif
