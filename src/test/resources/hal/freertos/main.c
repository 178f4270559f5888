/* SPDX-License-Identifier: Apache-2.0
 *
 * A task runs the model again and again while another one, of a higher priority, interrupts it at every tick. Then the first says how much of its
 * stack it has used.
 */
#include <string.h>

#include "FreeRTOS.h"
#include "kiln_console.h"
#include "task.h"
#include "tvmgen_default.h"

enum { WORDS = 256 };

static int8_t input[16] = {1, 27, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static int8_t first[16];
static int8_t output[16];
static volatile uint32_t blinks;

static void run(int8_t* to) {
  struct tvmgen_default_inputs inputs = {input};
  struct tvmgen_default_outputs outputs = {to};
  if (tvmgen_default_run(&inputs, &outputs) != 0) {
    kiln_board_exit(3);
  }
}

static void blink(void* argument) {
  (void)argument;
  for (;;) {
    blinks = blinks + 1u;
    vTaskDelay(1);
  }
}

static void infer(void* argument) {
  (void)argument;
  run(first);
  while (blinks < 20u) {
    run(output);
    if (memcmp(first, output, sizeof first) != 0) {
      kiln_board_exit(5);
    }
  }
  const unsigned long left = uxTaskGetStackHighWaterMark(NULL);
  if (left == 0u || left >= WORDS - 24u) { /* the frame of an interrupt with the other registers, and the function's own */
    kiln_board_exit(7);
  }
  kiln_console_text("the model's task used its stack\n");
  kiln_board_exit(first[0] == 1 && first[1] == 28 ? 0 : 6);
}

int main(void) {
  xTaskCreate(blink, "blink", 128, NULL, 2, NULL);
  xTaskCreate(infer, "infer", WORDS, NULL, 1, NULL);
  vTaskStartScheduler();
  return 1;
}
