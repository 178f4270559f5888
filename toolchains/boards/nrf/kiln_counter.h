/* SPDX-License-Identifier: Apache-2.0
 *
 * TIMER0 of an nRF51 or nRF52 counts 16 MHz with 32 bits, and tells when it is about to run over.
 */
#ifndef KILN_COUNTER_H_
#define KILN_COUNTER_H_

#include "kiln_register.h"

#define KILN_COUNTER

#define KILN_TIMER_START 0x40008000u
#define KILN_TIMER_STOP 0x40008004u
#define KILN_TIMER_CLEAR 0x4000800cu
#define KILN_TIMER_CAPTURE_0 0x40008040u
#define KILN_TIMER_EVENT_1 0x40008144u
#define KILN_TIMER_BITMODE 0x40008508u
#define KILN_TIMER_PRESCALER 0x40008510u
#define KILN_TIMER_CC_0 0x40008540u
#define KILN_TIMER_CC_1 0x40008544u

#define KILN_TIMER_32_BITS 3u

static inline void kiln_counter_start(void) {
  KILN_REGISTER(KILN_TIMER_STOP) = 1u;
  KILN_REGISTER(KILN_TIMER_BITMODE) = KILN_TIMER_32_BITS;
  KILN_REGISTER(KILN_TIMER_PRESCALER) = 0u;
  KILN_REGISTER(KILN_TIMER_CC_1) = UINT32_MAX;
  KILN_REGISTER(KILN_TIMER_EVENT_1) = 0u;
  KILN_REGISTER(KILN_TIMER_CLEAR) = 1u;
  KILN_REGISTER(KILN_TIMER_START) = 1u;
}

static inline int kiln_counter_stop(uint64_t* ticks) {
  KILN_REGISTER(KILN_TIMER_CAPTURE_0) = 1u;
  *ticks = KILN_REGISTER(KILN_TIMER_CC_0);
  return KILN_REGISTER(KILN_TIMER_EVENT_1) == 0u;
}

static inline uint32_t kiln_counter_hertz(void) {
  return 16000000u;
}

#endif
