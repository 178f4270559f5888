/* SPDX-License-Identifier: Apache-2.0
 *
 * The cycle counter of the core, of 32 bits, which does not tell that it ran over. QEMU's core has none: there it is TIM2, which QEMU
 * clocks by 1 GHz, so that a tick is as short as an instruction in virtual time. TIM5 counts microseconds beside it, by which is known
 * how often TIM2 ran over.
 */
#ifndef KILN_COUNTER_H_
#define KILN_COUNTER_H_

#include "kiln_board.h"
#include "kiln_cycles.h"

#define KILN_COUNTER

#define KILN_TIM2 0x40000000u
#define KILN_TIM5 0x40000c00u
#define KILN_TIM_CR1 0x00u
#define KILN_TIM_EGR 0x14u
#define KILN_TIM_CNT 0x24u
#define KILN_TIM_PSC 0x28u
#define KILN_TIM_ARR 0x2cu

#define KILN_TIM2_CLOCK 1000000000u
#define KILN_TIM5_DIVIDER 1000u

static inline void kiln_tim_start(uint32_t base, uint32_t divider) {
  KILN_REGISTER(base + KILN_TIM_PSC) = divider - 1u;
  KILN_REGISTER(base + KILN_TIM_ARR) = UINT32_MAX;
  KILN_REGISTER(base + KILN_TIM_CR1) = 1u;
  KILN_REGISTER(base + KILN_TIM_EGR) = 1u; /* begin at 0 */
}

static inline void kiln_counter_start(void) {
  if (!kiln_cycles_start()) {
    kiln_tim_start(KILN_TIM5, KILN_TIM5_DIVIDER);
    kiln_tim_start(KILN_TIM2, 1u);
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
  uint32_t exact = KILN_REGISTER(KILN_TIM2 + KILN_TIM_CNT);
  uint64_t about = (uint64_t)KILN_REGISTER(KILN_TIM5 + KILN_TIM_CNT) * KILN_TIM5_DIVIDER;
  int32_t difference = (int32_t)(exact - (uint32_t)about);
  *ticks = about + (uint64_t)(int64_t)difference; /* the number beside it whose low bits are exact */
  return 1;
}

static inline uint32_t kiln_counter_hertz(void) {
  return kiln_has_cycles() ? KILN_CORE_CLOCK : KILN_TIM2_CLOCK;
}

#endif
