/* SPDX-License-Identifier: Apache-2.0
 *
 * The cycle counter of a core from Armv7-M on (Armv7-M Architecture Reference Manual, C1.8). It has 32 bits and nothing tells that it ran
 * over: what is measured must end within 2^32 cycles. Boards with KILN_CORE_CLOCK in kiln_board.h have it.
 */
#ifndef KILN_COUNTER_H_
#define KILN_COUNTER_H_

#include "kiln_board.h"
#include "kiln_cycles.h"

#ifdef KILN_CORE_CLOCK
#define KILN_COUNTER

static inline void kiln_counter_start(void) {
  kiln_cycles_start();
}

static inline int kiln_counter_stop(uint64_t* ticks) {
  *ticks = kiln_cycles_stop();
  return 1;
}

static inline uint32_t kiln_counter_hertz(void) {
  return KILN_CORE_CLOCK;
}
#endif

#endif
