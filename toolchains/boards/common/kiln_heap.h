/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory behind an image's variables, which nothing uses. The linker script provides both symbols.
 */
#ifndef KILN_HEAP_H_
#define KILN_HEAP_H_

#include <stddef.h>
#include <stdint.h>

extern uint8_t __bss_end[];
extern uint8_t __data_memory_end[];

static inline uint8_t* kiln_heap_begin(void) {
  return __bss_end;
}

static inline size_t kiln_heap_bytes(void) {
  return (size_t)((uintptr_t)__data_memory_end - (uintptr_t)__bss_end);
}

#endif
