/* SPDX-License-Identifier: Apache-2.0
 *
 * The model runs again and again while the tick, whose handler lies in the table in RAM, interrupts it.
 */
#include <string.h>

#include "pico_stdlib.h"
#include "tvmgen_default.h"

#define SYSTICK ((volatile uint32_t*)0xe000e010u)

static int8_t input[16] = {1, 27, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static int8_t first[16];
static int8_t output[16];
static volatile uint32_t ticks;

static void tick(void) {
  ticks = ticks + 1u;
}

static void run(int8_t* to) {
  struct tvmgen_default_inputs inputs = {input};
  struct tvmgen_default_outputs outputs = {to};
  if (tvmgen_default_run(&inputs, &outputs) != 0) {
    exit(3);
  }
}

int main(void) {
  run(first);
  exception_set_exclusive_handler(SYSTICK_EXCEPTION, tick);
  SYSTICK[1] = 24999u;
  SYSTICK[2] = 0u;
  SYSTICK[0] = 7u;
  while (ticks < 20u) {
    run(output);
    if (memcmp(first, output, sizeof first) != 0) {
      exit(5);
    }
  }
  stdio_puts_raw("beside the SDK\n");
  return first[0] == 1 && first[1] == 28 ? 0 : 6;
}
