/* SPDX-License-Identifier: Apache-2.0
 *
 * What boards need of a RISC-V hart in machine mode and C cannot say (The RISC-V Instruction Set Manual, volumes I and II).
 */
#ifndef KILN_RISCV_H_
#define KILN_RISCV_H_

#include <stdint.h>

#define KILN_MSTATUS_MIE 8u /* interrupts of machine mode are on */

/* Sleeps until an interrupt is pending, whether or not it is on. */
static inline void kiln_wait_for_interrupt(void) {
  __asm__ volatile("wfi" ::: "memory");
}

/* FENCE: accesses before it are seen before those behind it, memory and devices. */
static inline void kiln_memory_barrier(void) {
  __asm__ volatile("fence iorw, iorw" ::: "memory");
}

/* Switches interrupts off and returns what mstatus.MIE was, for kiln_interrupts_restore. */
static inline uint32_t kiln_interrupts_disable(void) {
  uint32_t before;
  __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(before) : : "memory");
  return before & KILN_MSTATUS_MIE;
}

static inline void kiln_interrupts_restore(uint32_t before) {
  __asm__ volatile("csrs mstatus, %0" : : "r"(before & KILN_MSTATUS_MIE) : "memory");
}

static inline void kiln_interrupts_enable(void) {
  __asm__ volatile("csrsi mstatus, 8" ::: "memory");
}

/* The machine's cycle counter, its low word. */
static inline uint32_t kiln_cycles(void) {
  uint32_t cycles;
  __asm__ volatile("csrr %0, mcycle" : "=r"(cycles));
  return cycles;
}

/* All of it. Read again if the low word ran over meanwhile. */
static inline uint64_t kiln_cycles_64(void) {
  uint32_t high;
  uint32_t low;
  uint32_t again;
  do {
    __asm__ volatile("csrr %0, mcycleh" : "=r"(high));
    __asm__ volatile("csrr %0, mcycle" : "=r"(low));
    __asm__ volatile("csrr %0, mcycleh" : "=r"(again));
  } while (high != again);
  return (uint64_t)high << 32 | low;
}

/* Lets the cycle counter begin at 0. */
static inline void kiln_cycles_reset(void) {
  __asm__ volatile("csrw mcycle, zero\n\tcsrw mcycleh, zero\n\tcsrw mcycle, zero" ::: "memory");
}

/* Interrupts of machine mode: bits of mie. */
static inline void kiln_interrupt_sources_set(uint32_t bits) {
  __asm__ volatile("csrw mie, %0" : : "r"(bits) : "memory");
}

#endif
