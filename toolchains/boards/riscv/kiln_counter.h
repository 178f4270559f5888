/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine's cycle counter, of 64 bits. Boards with KILN_CORE_CLOCK in kiln_board.h have it.
 */
#ifndef KILN_COUNTER_H_
#define KILN_COUNTER_H_

#include "kiln_board.h"
#include "kiln_riscv.h"

#ifdef KILN_CORE_CLOCK
#define KILN_COUNTER

static inline void kiln_counter_start(void) {
  kiln_cycles_reset();
}

static inline int kiln_counter_stop(uint64_t* ticks) {
  *ticks = kiln_cycles_64();
  return 1;
}

static inline uint32_t kiln_counter_hertz(void) {
  return KILN_CORE_CLOCK;
}
#endif

#endif
