/* SPDX-License-Identifier: Apache-2.0
 *
 * The model runs again and again while the HAL's tick interrupts it.
 */
#include <string.h>

#include "kiln_console.h"
#include "mps2_hal.h"
#include "tvmgen_default.h"

static int8_t input[16] = {1, 27, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static int8_t first[16];
static int8_t output[16];
static uint32_t cleared;

static void run(int8_t* to) {
  struct tvmgen_default_inputs inputs = {input};
  struct tvmgen_default_outputs outputs = {to};
  if (tvmgen_default_run(&inputs, &outputs) != 0) {
    kiln_board_exit(3);
  }
}

int main(void) {
  if (cleared != 0u || input[15] != 16 || SystemCoreClock != 25000000u) {
    kiln_board_exit(4);
  }
  run(first);
  HAL_Init();
  const uint32_t start = HAL_GetTick();
  uint32_t runs = 0;
  while (HAL_GetTick() - start < 20u) {
    run(output);
    ++runs;
    if (memcmp(first, output, sizeof first) != 0) {
      kiln_board_exit(5);
    }
  }
  kiln_console_text(runs > 20u ? "beside the HAL\n" : "too few\n");
  kiln_board_exit(first[0] == 1 && first[1] == 28 ? 0 : 6); /* the model adds 1 to an element of 27 at place 1 */
}
