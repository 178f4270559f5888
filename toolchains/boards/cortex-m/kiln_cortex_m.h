/* SPDX-License-Identifier: Apache-2.0
 *
 * What boards need of a Cortex-M core and C cannot say (Armv6-M, Armv7-M and Armv8-M Architecture Reference Manuals).
 */
#ifndef KILN_CORTEX_M_H_
#define KILN_CORTEX_M_H_

#include <stdint.h>

/* Sleeps until an interrupt is pending, whether or not it is masked. */
static inline void kiln_wait_for_interrupt(void) {
  __asm__ volatile("wfi" ::: "memory");
}

/* Sleeps until an event; kiln_send_event makes one. */
static inline void kiln_wait_for_event(void) {
  __asm__ volatile("wfe" ::: "memory");
}

static inline void kiln_send_event(void) {
  __asm__ volatile("sev" ::: "memory");
}

/* DMB: accesses before it are seen before those behind it. */
static inline void kiln_memory_barrier(void) {
  __asm__ volatile("dmb" ::: "memory");
}

/* DSB: accesses before it are complete. */
static inline void kiln_memory_sync(void) {
  __asm__ volatile("dsb" ::: "memory");
}

/* ISB: what follows is fetched anew, with all that changed before. */
static inline void kiln_instruction_sync(void) {
  __asm__ volatile("isb" ::: "memory");
}

/* Masks interrupts and returns what PRIMASK was, for kiln_interrupts_restore. */
static inline uint32_t kiln_interrupts_disable(void) {
  uint32_t before;
  __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(before) : : "memory");
  return before;
}

static inline void kiln_interrupts_restore(uint32_t before) {
  __asm__ volatile("msr primask, %0" : : "r"(before) : "memory");
}

static inline void kiln_interrupts_enable(void) {
  __asm__ volatile("cpsie i" ::: "memory");
}

/* Number of the exception that is being handled, 0 in a thread. */
static inline uint32_t kiln_exception(void) {
  uint32_t number;
  __asm__ volatile("mrs %0, ipsr" : "=r"(number));
  return number;
}

static inline uint32_t kiln_main_stack(void) {
  uint32_t pointer;
  __asm__ volatile("mrs %0, msp" : "=r"(pointer));
  return pointer;
}

/* VTOR: the vector table of an image that does not lie where the core looks after reset. A Cortex-M0 has none. */
static inline void kiln_vectors_set(const void* table) {
  *(volatile uint32_t*)0xe000ed08u = (uint32_t)(uintptr_t)table;
  kiln_memory_sync();
  kiln_instruction_sync();
}

/*
 * Starts another image, such as the one behind a boot loader: its stack and its entry are the first two words of its vector table. The guard
 * of this image's stack (MPU_CTRL, MSPLIM) ends with it.
 */
__attribute__((noreturn)) static inline void kiln_start_image(const uint32_t* table) {
#if __ARM_ARCH >= 8
  __asm__ volatile("msr msplim, %0" : : "r"(0) : "memory");
#else
  *(volatile uint32_t*)0xe000ed94u = 0u;
  kiln_memory_sync();
  kiln_instruction_sync();
#endif
  const uint32_t stack = table[0];
  const uint32_t entry = table[1];
  __asm__ volatile("msr msp, %0\n\tbx %1" : : "r"(stack), "r"(entry) : "memory");
  __builtin_unreachable();
}

#endif
