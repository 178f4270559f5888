/* SPDX-License-Identifier: Apache-2.0
 *
 * The timer of an RP2040 (RP2040 Datasheet, 4.6 and 4.7.2) counts microseconds of the crystal with 64 bits.
 */
#ifndef KILN_COUNTER_H_
#define KILN_COUNTER_H_

#include "kiln_register.h"

#define KILN_COUNTER

#define KILN_RESETS_CLEAR 0x4000f000u
#define KILN_RESETS_STATE 0x4000c008u
#define KILN_TIMER_WRITE_HIGH 0x40054000u
#define KILN_TIMER_WRITE_LOW 0x40054004u
#define KILN_TIMER_READ_HIGH 0x40054008u
#define KILN_TIMER_READ_LOW 0x4005400cu
#define KILN_WATCHDOG_TICK 0x4005802cu

#define KILN_RESET_TIMER (1u << 21)
#define KILN_TICK_MICROSECOND (1u << 9 | 12u) /* on; the crystal has 12 MHz */

static inline void kiln_counter_start(void) {
  KILN_REGISTER(KILN_WATCHDOG_TICK) = KILN_TICK_MICROSECOND;
  KILN_REGISTER(KILN_RESETS_CLEAR) = KILN_RESET_TIMER;
  kiln_await(KILN_RESETS_STATE, KILN_RESET_TIMER, KILN_RESET_TIMER);
  KILN_REGISTER(KILN_TIMER_WRITE_LOW) = 0u;
  KILN_REGISTER(KILN_TIMER_WRITE_HIGH) = 0u; /* Both count from now on. */
}

static inline int kiln_counter_stop(uint64_t* ticks) {
  uint32_t low = KILN_REGISTER(KILN_TIMER_READ_LOW); /* keeps the high word as it is */
  *ticks = (uint64_t)KILN_REGISTER(KILN_TIMER_READ_HIGH) << 32 | low;
  return 1;
}

static inline uint32_t kiln_counter_hertz(void) {
  return 1000000u;
}

#endif
