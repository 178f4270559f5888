// SPDX-License-Identifier: Apache-2.0
//
// Two tasks: one runs the model four times a second, the other lets the LED blink.
#include <stdio.h>
#include <stdlib.h>

#include "led.h"
#include "smooth.hpp"
#include "task.h"
#include "tvmgen_default.h"
#include "tvmgen_default_tensors.h"

namespace {
TVMGEN_DEFAULT_INPUT_0_TYPE input[TVMGEN_DEFAULT_INPUT_0_ELEMENTS];
TVMGEN_DEFAULT_OUTPUT_0_TYPE output[TVMGEN_DEFAULT_OUTPUT_0_ELEMENTS];
volatile int blinks;
Smooth smooth;

void blink(void*) {
  for (;;) {
    led_set(!led_is_on());
    blinks = blinks + 1;
    vTaskDelay(pdMS_TO_TICKS(100));
  }
}

void infer(void*) {
  for (int run = 1; blinks < BLINKS; ++run) {
    for (auto& element : input) {
      element = static_cast<TVMGEN_DEFAULT_INPUT_0_TYPE>(run);
    }
    tvmgen_default_inputs inputs{};
    tvmgen_default_outputs outputs{};
    inputs.TVMGEN_DEFAULT_INPUT_0 = input;
    outputs.TVMGEN_DEFAULT_OUTPUT_0 = output;
    if (tvmgen_default_run(&inputs, &outputs) != 0) {
      exit(1);
    }
    printf("run %d: %ld\n", run, static_cast<long>(smooth.add(output[0])));
    vTaskDelay(pdMS_TO_TICKS(250));
  }
  printf("the LED changed %d times\n", blinks);
  exit(0);
}
}  // namespace

int main() {
  xTaskCreate(blink, "blink", 128, nullptr, 2, nullptr);
  xTaskCreate(infer, "infer", 1024, nullptr, 1, nullptr);
  puts("two tasks");
  vTaskStartScheduler();
}
