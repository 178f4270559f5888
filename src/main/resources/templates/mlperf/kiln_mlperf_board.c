/* SPDX-License-Identifier: Apache-2.0
 *
 * The application "mlperf-tiny" on a board: console, time and pin. A character may come while an answer is sent: it is taken before each one
 * that is sent, which takes as long.
 */
#define _POSIX_C_SOURCE 199309L /* this computer's clock, where the image runs on it */

#include "kiln_console.h"
#include "kiln_mlperf.h"

#define WAITING 256u /* characters, a power of 2 */

static uint8_t waiting[WAITING];
static uint32_t first; /* both count on for ever */
static uint32_t behind;

/* A board whose console.c has none waits for what it sends, and misses what comes meanwhile. */
__attribute__((weak)) int kiln_console_poll(void) {
  return -1;
}

void kiln_mlperf_take(void) {
  while (behind - first < WAITING) {
    int byte = kiln_console_poll();
    if (byte < 0) {
      return;
    }
    waiting[behind++ % WAITING] = (uint8_t)byte;
  }
}

void kiln_mlperf_put(uint8_t character) {
  kiln_mlperf_take();
  kiln_console_put(character);
}

#ifdef KILN_MLPERF_ENERGY
#include "kiln_pin.h"

const char kiln_mlperf_mode[] = "energy";

/* Low for more than 50 microseconds, by which runners tell a pulse from bouncing: each turn takes two cycles or more. */
#ifndef KILN_CORE_CLOCK
#define KILN_CORE_CLOCK 64000000u
#endif
#define TURNS (KILN_CORE_CLOCK / 10000u)

int64_t kiln_mlperf_mark(void) {
  kiln_pin_write(0);
  for (volatile uint32_t turn = 0; turn < TURNS; ++turn) {
  }
  kiln_pin_write(1);
  return -1;
}

int kiln_mlperf_keep_time(void) {
  return 1;
}

void kiln_mlperf_begin_time(void) {
  kiln_pin_init();
}
#else
#include "kiln_counter.h"

const char kiln_mlperf_mode[] = "performance";

static uint64_t passed; /* ticks before the counter was started last */

int kiln_mlperf_keep_time(void) {
  uint64_t ticks = 0;
  int is_known = kiln_counter_stop(&ticks);
  kiln_counter_start();
  passed += is_known != 0 ? ticks : 0u;
  return is_known;
}

int64_t kiln_mlperf_mark(void) {
  (void)kiln_mlperf_keep_time();
  uint32_t hertz = kiln_counter_hertz();
  return (int64_t)(passed / hertz * 1000000u + passed % hertz * 1000000u / hertz);
}

void kiln_mlperf_begin_time(void) {
  kiln_counter_start();
}
#endif

int kiln_mlperf_is_waiting(void) {
  return first != behind;
}

int kiln_mlperf_get(void) {
  return first != behind ? waiting[first++ % WAITING] : kiln_console_get();
}
