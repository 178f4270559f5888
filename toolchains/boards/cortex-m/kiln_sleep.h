/* SPDX-License-Identifier: Apache-2.0
 *
 * Sleep until a peripheral has something to say (Armv7-M Architecture Reference Manual, B1.5.18 and B3.4).
 */
#ifndef KILN_SLEEP_H_
#define KILN_SLEEP_H_

#include "kiln_cortex_m.h"
#include "kiln_register.h"

#define KILN_NVIC_ENABLE 0xe000e100u
#define KILN_NVIC_DISABLE 0xe000e180u
#define KILN_NVIC_CLEAR 0xe000e280u

/*
 * Sleeps until this interrupt, or another one, is pending, or not at all if it is already. It stays masked, so that it needs no handler;
 * others are handled afterwards. In a handler, which the interrupt may not be able to interrupt, the core does not sleep.
 */
static inline void kiln_sleep(uint32_t interrupt) {
  const uint32_t bank = interrupt / 32u * 4u;
  const uint32_t bit = 1u << interrupt % 32u;
  if (kiln_exception() != 0u) {
    return;
  }
  uint32_t before = kiln_interrupts_disable();
  KILN_REGISTER(KILN_NVIC_ENABLE + bank) = bit;
  kiln_memory_sync();
  kiln_wait_for_interrupt();
  KILN_REGISTER(KILN_NVIC_DISABLE + bank) = bit;
  KILN_REGISTER(KILN_NVIC_CLEAR + bank) = bit;
  kiln_memory_sync();
  kiln_instruction_sync();
  kiln_interrupts_restore(before);
}

#endif
