/* SPDX-License-Identifier: Apache-2.0
 *
 * The cycle counter of the core. QEMU's core has none: there it is TIM2, which QEMU clocks by 1 GHz, so that a tick is as short as an
 * instruction in virtual time. Both have 32 bits; only TIM2 tells that it ran over.
 */
#ifndef KILN_COUNTER_H_
#define KILN_COUNTER_H_

#include "kiln_board.h"
#include "kiln_cycles.h"

#define KILN_COUNTER

#define KILN_TIM2_CR1 0x40000000u
#define KILN_TIM2_DIER 0x4000000cu
#define KILN_TIM2_SR 0x40000010u
#define KILN_TIM2_EGR 0x40000014u
#define KILN_TIM2_CNT 0x40000024u
#define KILN_TIM2_PSC 0x40000028u
#define KILN_TIM2_ARR 0x4000002cu

#define KILN_TIM2_CLOCK 1000000000u
#define KILN_TIM2_UPDATE 1u /* with its interrupt, which the core does not take */

static inline void kiln_counter_start(void) {
  if (!kiln_cycles_start()) {
    KILN_REGISTER(KILN_TIM2_PSC) = 0u;
    KILN_REGISTER(KILN_TIM2_ARR) = UINT32_MAX;
    KILN_REGISTER(KILN_TIM2_CR1) = 1u;
    KILN_REGISTER(KILN_TIM2_DIER) = KILN_TIM2_UPDATE;
    KILN_REGISTER(KILN_TIM2_EGR) = 1u; /* begin at 0 */
    KILN_REGISTER(KILN_TIM2_SR) = 0u;
  }
}

static inline int kiln_has_cycles(void) {
  return (KILN_REGISTER(KILN_DWT_CTRL) & KILN_DWT_COUNT) != 0u;
}

static inline int kiln_counter_stop(uint64_t* ticks) {
  if (kiln_has_cycles()) {
    *ticks = kiln_cycles_stop();
    return 1;
  }
  *ticks = KILN_REGISTER(KILN_TIM2_CNT);
  return (KILN_REGISTER(KILN_TIM2_SR) & KILN_TIM2_UPDATE) == 0u;
}

static inline uint32_t kiln_counter_hertz(void) {
  return kiln_has_cycles() ? KILN_CORE_CLOCK : KILN_TIM2_CLOCK;
}

#endif
