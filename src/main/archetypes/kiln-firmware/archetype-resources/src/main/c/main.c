/*
 * Runs the model once and prints which output is the largest. Inputs and outputs are named by position, so that another model fits, too.
 */
#include "kiln_console.h"
#include "tvmgen_default.h"
#include "tvmgen_default_tensors.h"

static TVMGEN_DEFAULT_INPUT_0_TYPE input[TVMGEN_DEFAULT_INPUT_0_ELEMENTS] __attribute__((aligned(16)));
static TVMGEN_DEFAULT_OUTPUT_0_TYPE output[TVMGEN_DEFAULT_OUTPUT_0_ELEMENTS] __attribute__((aligned(16)));

int main(void) {
  struct tvmgen_default_inputs inputs = {.TVMGEN_DEFAULT_INPUT_0 = input};
  struct tvmgen_default_outputs outputs = {.TVMGEN_DEFAULT_OUTPUT_0 = output};
  /* Here the samples of a sensor would come in: tvmgen_default_quantize_input_0(sample). */
  if (tvmgen_default_run(&inputs, &outputs) != 0) {
    kiln_console_text("the model failed\n");
    return 1;
  }
  unsigned best = 0;
  for (unsigned i = 1; i < TVMGEN_DEFAULT_OUTPUT_0_ELEMENTS; ++i) {
    if (output[i] > output[best]) {
      best = i;
    }
  }
  const char digits[] = {(char)('0' + best / 10u % 10u), (char)('0' + best % 10u), '\n', '\0'};
  kiln_console_text("the model says: class ");
  kiln_console_text(digits);
  return 0;
}
