/* SPDX-License-Identifier: Apache-2.0
 *
 * A command of a thousand characters that comes at once is taken whole, whatever is sent meanwhile: what does not fit waits in the UART.
 */
#include "kiln_console.h"
#include "kiln_counter.h"
#include "kiln_mlperf.h"

#define COMMAND 1000

static int sent;

int kiln_console_poll(void) {
  return sent < COMMAND ? sent++ % 251 : -1;
}

int kiln_console_get(void) {
  return kiln_console_poll();
}

void kiln_console_put(uint8_t character) {
  (void)character;
}

void kiln_counter_start(void) {
}

int kiln_counter_stop(uint64_t* ticks) {
  *ticks = 0;
  return 1;
}

uint32_t kiln_counter_hertz(void) {
  return 1;
}

int main(void) {
  kiln_mlperf_take();
  for (int i = 0; i < COMMAND; ++i) {
    if (i % 7 == 0) {
      kiln_mlperf_put('.');
    }
    if (kiln_mlperf_get() != i % 251) {
      return 1;
    }
  }
  return kiln_mlperf_is_waiting() == 0 && kiln_mlperf_get() < 0 ? 0 : 2;
}
