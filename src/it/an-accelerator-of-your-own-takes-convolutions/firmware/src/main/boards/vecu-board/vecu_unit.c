/* SPDX-License-Identifier: Apache-2.0
 *
 * The vector unit as a model in C. No code but this knows that it is not hardware: it reads its registers and memory as the unit would.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vecu_registers.h"

enum { END, SHAPE, WINDOW, QUANTIZE, CONVOLVE, CODES };
enum { INPUT, FILTER, BIAS, MULTIPLIER, SHIFT, OUTPUT, GATHERED };
enum { ROWS, COLUMNS, CHANNELS, OUT_ROWS, OUT_COLUMNS, OUT_CHANNELS };
enum { TAPS_DOWN, TAPS_RIGHT, STRIDE_DOWN, STRIDE_RIGHT, PAD_ABOVE, PAD_LEFT };
enum { IN_ZERO, OUT_ZERO, LEAST, MOST };
enum { OPERANDS = 6, LANES = 16, REGIONS = GATHERED + 1 };
enum { TCM_BASE = 0x20300000, TCM_BYTES = 64 * 1024 };

static const uint8_t operands_of[CODES] = {0, 6, 6, 4, 2};

/* Operands of the last command of each code. */
static int32_t state[CODES][OPERANDS];

static void* region(int number) {
  const volatile struct vecu_registers* const unit = (void*)VECU_BASE;
  return (void*)unit->region[number];
}

/* The memory of the core alone is not on the unit's bus. */
static bool reaches_all_regions(void) {
  for (int number = 0; number < REGIONS; ++number) {
    const uintptr_t address = (uintptr_t)region(number);
    if (address >= TCM_BASE && address < TCM_BASE + TCM_BYTES) {
      return false;
    }
  }
  return true;
}

/* TensorFlow Lite's MultiplyByQuantizedMultiplier, which rounds twice. */
static int32_t rescaled(int32_t sum, int32_t multiplier, int32_t shift) {
  const int64_t left = (int64_t)sum * ((int64_t)1 << (shift > 0 ? shift : 0));
  const int64_t product = left * multiplier;
  const int64_t nudge = product >= 0 ? (int64_t)1 << 30 : 1 - ((int64_t)1 << 30);
  const int32_t high = (int32_t)((product + nudge) / ((int64_t)1 << 31));
  const int32_t right = shift < 0 ? -shift : 0;
  const int32_t mask = (int32_t)(((int64_t)1 << right) - 1);
  const int32_t threshold = (mask >> 1) + (high < 0 ? 1 : 0);
  return (high >> right) + ((high & mask) > threshold ? 1 : 0);
}

/* Copies the window at an output position, less the zero point, to the workspace that the model lends the unit. */
static void gather(int32_t y, int32_t x) {
  const int32_t* const shape = state[SHAPE];
  const int32_t* const window = state[WINDOW];
  const int8_t* const input = region(INPUT);
  int8_t* to = region(GATHERED);
  for (int32_t down = 0; down < window[TAPS_DOWN]; ++down) {
    const int32_t row = y * window[STRIDE_DOWN] - window[PAD_ABOVE] + down;
    for (int32_t right = 0; right < window[TAPS_RIGHT]; ++right) {
      const int32_t column = x * window[STRIDE_RIGHT] - window[PAD_LEFT] + right;
      const bool inside = row >= 0 && row < shape[ROWS] && column >= 0 && column < shape[COLUMNS];
      const int8_t* const from = inside ? &input[(row * shape[COLUMNS] + column) * shape[CHANNELS]] : NULL;
      for (int32_t channel = 0; channel < shape[CHANNELS]; ++channel) {
        *to++ = inside ? from[channel] : (int8_t)state[QUANTIZE][IN_ZERO];
      }
    }
  }
}

/* All lanes take a value of the window at once. */
static void convolve(int32_t first, int32_t lanes) {
  const int32_t* const shape = state[SHAPE];
  const int32_t* const limits = state[QUANTIZE];
  const int32_t taps = state[WINDOW][TAPS_DOWN] * state[WINDOW][TAPS_RIGHT] * shape[CHANNELS];
  const int8_t* const window = region(GATHERED);
  const int8_t* const filter = region(FILTER);
  const int32_t* const bias = region(BIAS);
  const int32_t* const multiplier = region(MULTIPLIER);
  const int32_t* const shift = region(SHIFT);
  int8_t* output = region(OUTPUT);
  for (int32_t position = 0; position < shape[OUT_ROWS] * shape[OUT_COLUMNS]; ++position) {
    int32_t sums[LANES];
    gather(position / shape[OUT_COLUMNS], position % shape[OUT_COLUMNS]);
    for (int32_t lane = 0; lane < lanes; ++lane) {
      sums[lane] = bias[first + lane];
    }
    for (int32_t tap = 0; tap < taps; ++tap) {
      const int32_t value = window[tap] - limits[IN_ZERO];
      for (int32_t lane = 0; lane < lanes; ++lane) {
        sums[lane] += value * filter[(first + lane) * taps + tap];
      }
    }
    for (int32_t lane = 0; lane < lanes; ++lane) {
      const int32_t channel = first + lane;
      const int32_t value = rescaled(sums[lane], multiplier[channel], shift[channel]) + limits[OUT_ZERO];
      const int32_t limited = value < limits[LEAST] ? limits[LEAST] : value > limits[MOST] ? limits[MOST] : value;
      output[position * shape[OUT_CHANNELS] + channel] = (int8_t)limited;
    }
  }
}

/* Executes a stream; returns whether it was one. */
static bool execute(const uint32_t* commands, uint32_t words) {
  uint32_t next = 0;
  while (next < words) {
    const uint32_t code = commands[next] & 0xffffu;
    const uint32_t count = commands[next] >> 16;
    ++next;
    if (code >= CODES || count != operands_of[code] || count > words - next) {
      return false;
    }
    for (uint32_t i = 0; i < count; ++i) {
      state[code][i] = (int32_t)commands[next + i];
    }
    next += count;
    if (code == END) {
      return true;
    }
    if (code == CONVOLVE) {
      if (state[CONVOLVE][1] > LANES) {
        return false;
      }
      convolve(state[CONVOLVE][0], state[CONVOLVE][1]);
    }
  }
  return false;
}

void vecu_wait(void) {
  volatile struct vecu_registers* const unit = (void*)VECU_BASE;
  if (unit->control == VECU_POWER) {
    unit->status = VECU_READY;
  } else if (unit->control == (VECU_POWER | VECU_START) && unit->status == VECU_READY) {
    unit->status = VECU_BUSY;
  } else if (unit->status == VECU_BUSY) {
    const bool is_done = reaches_all_regions() && execute((const uint32_t*)unit->commands, unit->words);
    unit->status = is_done ? VECU_DONE : VECU_ERROR;
  }
}
