/* SPDX-License-Identifier: Apache-2.0
 *
 * Sleep until a peripheral has something to say (RISC-V PLIC specification 1.0.0; RISC-V Instruction Set Manual, volume II, WFI).
 */
#ifndef KILN_SLEEP_H_
#define KILN_SLEEP_H_

#include "kiln_plic.h"

#define KILN_PLIC_PENDING(source) KILN_REGISTER(KILN_PLIC + 0x1000u + 4u * ((source) / 32u))
#define KILN_PLIC_MOST 7u /* the highest priority */

/*
 * Sleeps until this source, or another one, interrupts, or not at all if it does already. Interrupts are off meanwhile, so that it needs no
 * handler; others are handled afterwards. The source is first by its priority, so that a claim takes no other one.
 */
static inline void kiln_sleep(uint32_t source) {
  const uint32_t bit = 1u << source % 32u;
  uint32_t before = kiln_interrupts_disable();
  uint32_t enabled = KILN_PLIC_ENABLE(source);
  uint32_t kinds;
  __asm__ volatile("csrrs %0, mie, %1" : "=r"(kinds) : "r"(KILN_MIE_EXTERNAL) : "memory");
  kiln_plic_enable(source, KILN_PLIC_MOST);
  kiln_wait_for_interrupt();
  if ((KILN_PLIC_PENDING(source) & bit) != 0u) {
    KILN_PLIC_CLAIM = KILN_PLIC_CLAIM;
  }
  KILN_PLIC_ENABLE(source) = enabled;
  kiln_interrupt_sources_set(kinds);
  kiln_interrupts_restore(before);
}

#endif
