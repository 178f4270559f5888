/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine's time (mtime), 64 bits at 10 MHz. The hart's cycles are no time: QEMU takes them from this computer.
 */
#ifndef KILN_COUNTER_H_
#define KILN_COUNTER_H_

#include "kiln_register.h"

#define KILN_COUNTER

#define KILN_MTIME_LOW 0x0200bff8u
#define KILN_MTIME_HIGH 0x0200bffcu

static uint64_t kiln_counter_started;

/* Reads again if the low word ran over meanwhile. */
static inline uint64_t kiln_mtime(void) {
  uint32_t high;
  uint32_t low;
  do {
    high = KILN_REGISTER(KILN_MTIME_HIGH);
    low = KILN_REGISTER(KILN_MTIME_LOW);
  } while (high != KILN_REGISTER(KILN_MTIME_HIGH));
  return (uint64_t)high << 32 | low;
}

static inline void kiln_counter_start(void) {
  kiln_counter_started = kiln_mtime();
}

static inline int kiln_counter_stop(uint64_t* ticks) {
  *ticks = kiln_mtime() - kiln_counter_started;
  return 1;
}

static inline uint32_t kiln_counter_hertz(void) {
  return 10000000u;
}

#endif
