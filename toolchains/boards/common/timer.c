/* SPDX-License-Identifier: Apache-2.0
 *
 * microTVM's timer on the counter of the board, kiln_counter.h:
 *
 *   kiln_counter_start()          begins to count at 0
 *   kiln_counter_stop(&ticks)     how far it came; 0 if that is not known, because it ran over
 *   kiln_counter_hertz()          ticks of a second
 *
 * A board without KILN_COUNTER has no timer. A firmware's own hooks replace these.
 */
#include <stdbool.h>
#include <tvm/runtime/crt/internal/timer/quotient.h>
#include <tvm/runtime/crt/platform.h>

#include "kiln_counter.h"

#ifdef KILN_COUNTER
#define WEAK __attribute__((weak))

static bool is_running;

WEAK tvm_crt_error_t TVMPlatformTimerStart(void) {
  if (is_running) {
    return kTvmErrorPlatformTimerBadState;
  }
  is_running = true;
  kiln_counter_start();
  return kTvmErrorNoError;
}

WEAK tvm_crt_error_t TVMPlatformTimerStop(double* elapsed_time_seconds) {
  uint64_t ticks = 0;
  bool is_known = is_running && kiln_counter_stop(&ticks) != 0;
  is_running = false;
  *elapsed_time_seconds = TVMQuotient(ticks, 0, kiln_counter_hertz());
  return is_known ? kTvmErrorNoError : kTvmErrorPlatformTimerBadState;
}
#endif
