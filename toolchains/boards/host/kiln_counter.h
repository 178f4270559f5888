/* SPDX-License-Identifier: Apache-2.0
 *
 * This computer's monotonic clock, in nanoseconds.
 */
#ifndef KILN_COUNTER_H_
#define KILN_COUNTER_H_

#include <stdint.h>
#include <time.h>

#define KILN_COUNTER

#define KILN_NANOSECONDS 1000000000u

static uint64_t kiln_counter_started;

static inline uint64_t kiln_clock(void) {
  struct timespec now = {0, 0};
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * KILN_NANOSECONDS + (uint64_t)now.tv_nsec;
}

static inline void kiln_counter_start(void) {
  kiln_counter_started = kiln_clock();
}

static inline int kiln_counter_stop(uint64_t* ticks) {
  *ticks = kiln_clock() - kiln_counter_started;
  return 1;
}

static inline uint32_t kiln_counter_hertz(void) {
  return KILN_NANOSECONDS;
}

#endif
