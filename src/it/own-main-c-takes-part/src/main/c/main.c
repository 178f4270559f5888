/* SPDX-License-Identifier: Apache-2.0
 * A program of the project's own: runs the model once on a movement of 0.25 and says how that went. It
 * names inputs and outputs by position, so that it outlives the model's names.
 */
#include "greeting.h"
#include "kiln_console.h"
#include "tvmgen_default.h"
#include "tvmgen_default_tensors.h"

static TVMGEN_DEFAULT_INPUT_0_TYPE input[TVMGEN_DEFAULT_INPUT_0_ELEMENTS] __attribute__((aligned(16)));
static TVMGEN_DEFAULT_OUTPUT_0_TYPE output[TVMGEN_DEFAULT_OUTPUT_0_ELEMENTS] __attribute__((aligned(16)));

int main(void) {
  struct tvmgen_default_inputs inputs = {.TVMGEN_DEFAULT_INPUT_0 = input};
  struct tvmgen_default_outputs outputs = {.TVMGEN_DEFAULT_OUTPUT_0 = output};
  for (int i = 0; i < TVMGEN_DEFAULT_INPUT_0_ELEMENTS; ++i) {
    input[i] = tvmgen_default_quantize_input_0(0.25f);
  }
  kiln_console_text(GREETING);
  kiln_console_text(tvmgen_default_run(&inputs, &outputs) == 0 ? "the model ran\n" : "the model failed\n");
  return 0;
}
