/* SPDX-License-Identifier: Apache-2.0
 *
 * The system counter of Arm's SSE-300 (Subsystem TRM, system timestamp) has 64 bits.
 */
#ifndef KILN_COUNTER_H_
#define KILN_COUNTER_H_

#include "kiln_board.h"
#include "kiln_register.h"

#define KILN_COUNTER

#define KILN_COUNTER_CONTROL 0x58100000u
#define KILN_COUNTER_LOW 0x58100008u
#define KILN_COUNTER_HIGH 0x5810000cu

static inline void kiln_counter_start(void) {
  KILN_REGISTER(KILN_COUNTER_CONTROL) = 0u; /* It can be written only while it stands still. */
  KILN_REGISTER(KILN_COUNTER_LOW) = 0u;
  KILN_REGISTER(KILN_COUNTER_HIGH) = 0u;
  KILN_REGISTER(KILN_COUNTER_CONTROL) = 1u;
}

static inline int kiln_counter_stop(uint64_t* ticks) {
  KILN_REGISTER(KILN_COUNTER_CONTROL) = 0u;
  *ticks = (uint64_t)KILN_REGISTER(KILN_COUNTER_HIGH) << 32 | KILN_REGISTER(KILN_COUNTER_LOW);
  return 1;
}

static inline uint32_t kiln_counter_hertz(void) {
  return KILN_TIMER_CLOCK;
}

#endif
