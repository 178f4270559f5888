/* SPDX-License-Identifier: Apache-2.0
 * A program of the project's own: runs the model once on zeros and says how that went.
 */
#include "greeting.h"
#include "kiln_console.h"
#include "tvmgen_default.h"

static uint8_t input[TVMGEN_DEFAULT_ACCELERATION_SIZE] __attribute__((aligned(16)));
static uint8_t output[TVMGEN_DEFAULT_GESTURE_SIZE] __attribute__((aligned(16)));

int main(void) {
  struct tvmgen_default_inputs inputs = {input};
  struct tvmgen_default_outputs outputs = {output};
  kiln_console_text(GREETING);
  kiln_console_text(tvmgen_default_run(&inputs, &outputs) == 0 ? "the model ran\n" : "the model failed\n");
  return 0;
}
