/* SPDX-License-Identifier: Apache-2.0
 *
 * A timer of Arm's Cortex-M System Design Kit counts down from 2^32 - 1, and tells when it ran over. Boards with KILN_TIMER_BASE and
 * KILN_TIMER_CLOCK in kiln_board.h have it.
 */
#ifndef KILN_COUNTER_H_
#define KILN_COUNTER_H_

#include "kiln_board.h"
#include "kiln_register.h"

#ifdef KILN_TIMER_BASE
#define KILN_COUNTER

#define KILN_TIMER_CONTROL (KILN_TIMER_BASE + 0x0u)
#define KILN_TIMER_VALUE (KILN_TIMER_BASE + 0x4u)
#define KILN_TIMER_RELOAD (KILN_TIMER_BASE + 0x8u)
#define KILN_TIMER_INTERRUPT (KILN_TIMER_BASE + 0xcu)

#define KILN_TIMER_ON (1u << 3 | 1u) /* with its interrupt, which the core does not take */

static inline void kiln_counter_start(void) {
  KILN_REGISTER(KILN_TIMER_CONTROL) = 0u;
  KILN_REGISTER(KILN_TIMER_RELOAD) = UINT32_MAX;
  KILN_REGISTER(KILN_TIMER_VALUE) = UINT32_MAX;
  KILN_REGISTER(KILN_TIMER_INTERRUPT) = 1u;
  KILN_REGISTER(KILN_TIMER_CONTROL) = KILN_TIMER_ON;
}

static inline int kiln_counter_stop(uint64_t* ticks) {
  *ticks = UINT32_MAX - KILN_REGISTER(KILN_TIMER_VALUE);
  KILN_REGISTER(KILN_TIMER_CONTROL) = 0u; /* QEMU's virtual time would run from one end of it to the next while the image sleeps. */
  return (KILN_REGISTER(KILN_TIMER_INTERRUPT) & 1u) == 0u;
}

static inline uint32_t kiln_counter_hertz(void) {
  return KILN_TIMER_CLOCK;
}
#endif

#endif
