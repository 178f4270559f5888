// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define NAME kiln_dense
#define HALFWORDS 256 * first + second
#define PRODUCTS_OF_INPUTS ""
#define START ""
#define MULTIPLY ""
#define MULTIPLY_SECOND ""
#define END ""
#define DECLARE_PRODUCTS
#define ADD_PRODUCTS
#define DOUBLED 2 * sums[channel]
#define BIASES twice the biases
#define DIFFERENCE ""
#define FIRST_WEIGHT (both - second) / 256

/* A row of inputs times blocks of four channels, with the layer's sizes and constants: offset of the last four inputs, which may lie over those before;
   channels, of which the last four may do so, too; bytes from the constants of a channel to the next one's; limits; then multiplier, offset and shift.
   w: per four inputs a word for inputs 0 and 2 of channels 0 and 1, one of 2 and 3, then for inputs 1 and 3; halfwords HALFWORDS; behind a
   block's weights BIASES of its channels. */
#if defined(__ARM_FEATURE_DSP)
__attribute__((naked, noinline)) static void NAME(
    __attribute__((unused)) const int8_t* x, __attribute__((unused)) const int32_t* w, __attribute__((unused)) const int32_t* layer,
    __attribute__((unused)) int8_t* out) {
  __asm__ volatile(
      "push {r4-r11, lr}\n"
      "ldm r2!, {r4, r5, r6, r7, r8}\n"
      "add r12, r0, r4\n"
      "add r5, r3\n"
      "subs r5, #4\n"
PRODUCTS_OF_INPUTS
      "push {r0, r3, r5}\n"
      "push {r2, r6, r7, r8}\n"
      "1:\n"
START
      "2:\n"
      "ldr r6, [r0]\n"
      "ldm r1!, {r8, r9, r10, r11}\n"
      "sxtb16 r7, r6\n"
      "sxtb16 r6, r6, ror #8\n"
MULTIPLY
MULTIPLY_SECOND
      "adds r0, #4\n"
      "cmp r0, r12\n"
      "bls 2b\n"
      "sub r6, r0, r12\n"
      "mov r0, r12\n"
      "cmp r6, #4\n"
      "bne 2b\n"
      "ldm r1!, {r6, r7, r8, r9}\n"
DIFFERENCE
      "add r3, r7, r3, lsl #1\n"
      "add r5, r9, r5, lsl #1\n"
      "ldm sp, {r0, r9, r10, r11}\n"
      "ldr lr, [sp, #20]\n"
      ".irp value, r2, r3, r4, r5\n"
      "ldm r0, {r6, r7, r8}\n"
      "add r0, r9\n"
      "add r7, r7, \\value, asr #31\n"
      "smmlar \\value, \\value, r6, r7\n"
      "asr \\value, \\value, r8\n"
      "cmp \\value, r10\n"
      "it lt\n"
      "movlt \\value, r10\n"
      "cmp \\value, r11\n"
      "it gt\n"
      "movgt \\value, r11\n"
      "strb \\value, [lr], #1\n"
      ".endr\n"
      "str r0, [sp]\n"
      "ldrd r0, r6, [sp, #16]\n"
      "ldr r7, [sp, #24]\n"
      "cmp r6, r7\n"
      "beq 3f\n"
      "cmp lr, r7\n"
      "it hi\n"
      "movhi lr, r7\n"
      "str lr, [sp, #20]\n"
      "b 1b\n"
      "3:\n"
END
      "pop {r4-r11, pc}\n");
}
#else
static void NAME(const int8_t* x, const int32_t* w, const int32_t* layer, int8_t* out) {
  const int32_t last = layer[0];
  const int32_t channels = layer[1];
  const int32_t* constants = layer + 5;
  for (int32_t first = 0;; first = first + 8 < channels ? first + 4 : channels - 4) {
    int32_t sums[4] = {0};
DECLARE_PRODUCTS
    for (int32_t i = 0;; i = i + 4 < last ? i + 4 : last) {
      for (int32_t next = 0; next < 4; ++next) {
        for (int32_t pair = 0; pair < 2; ++pair) {
          const int16_t both = (int16_t)((uint32_t)w[next % 2 * 2 + pair] >> (next / 2 * 16));
          const int8_t second = (int8_t)both;
          sums[2 * pair] += x[i + next] * (FIRST_WEIGHT);
          sums[2 * pair + 1] += x[i + next] * second;
ADD_PRODUCTS
        }
      }
      w += 4;
      if (i == last) {
        break;
      }
    }
    for (int32_t channel = 0; channel < 4; ++channel, constants += layer[2] / 4) {
      const int32_t scaled = DOUBLED + *w++;
      int32_t value = (int32_t)(((int64_t)scaled * constants[0] + (INT64_C(1) << 31)) >> 32) + constants[1] - (scaled < 0);
      value >>= constants[2];
      out[first + channel] = (int8_t)(value < layer[3] ? layer[3] : (value > layer[4] ? layer[4] : value));
    }
    if (first == channels - 4) {
      return;
    }
  }
}
#endif
