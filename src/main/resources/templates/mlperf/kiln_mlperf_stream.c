/* SPDX-License-Identifier: Apache-2.0
 *
 * The streaming benchmark: samples become rows of features, and the model runs on the last rows each time when there is another one.
 * Its input is the history: the oldest row first.
 */
#include "kiln_app.h"
#define KILN_MLPERF_TABLES
#include "kiln_mlperf.h"

#include <string.h>

#define MODEL (&kiln_app_models[0])
#define SAMPLES (KILN_MLPERF_BYTES / 2u)
#define ROW KILN_MLPERF_AUDIO(FEATURES)
#define HISTORY (KILN_MLPERF_AUDIO(FRAMES) * ROW)
#define HEARD 115   /* the word is there if the model is surer than this, 0.949 */
#define KEPT 1000u /* answers, 32 seconds of them */

static KILN_MLPERF_STATE state;
static int8_t row[ROW];
static int8_t answers[KEPT];
static uint32_t rows; /* since the start */
static int is_ready;
static int is_listening;

__attribute__((weak)) int kiln_mlperf_listen(int16_t* samples) {
  (void)samples;
  return -1;
}

__attribute__((weak)) void kiln_mlperf_detected(void) {}

__attribute__((weak)) void kiln_mlperf_processing(int is_busy) {
  (void)is_busy;
}

int32_t kiln_mlperf_run(void) {
  uint8_t* history = MODEL->tensor(0);
  memmove(history, history + ROW, HISTORY - ROW);
  memcpy(history + (HISTORY - ROW), row, ROW);
  int32_t result = MODEL->run();
  int8_t answer = (int8_t)MODEL->tensor(1)[0];
  /* The first row marks the time from which detections are counted. */
  if (rows == 0u || answer > HEARD) {
    kiln_mlperf_detected();
  }
  answers[rows++ % KEPT] = answer;
  return result;
}

/* Each chunk completes a window: silence fills the first but for one chunk. */
static void begin(void) {
  static const int16_t silence;
  KILN_MLPERF_CALL(init)(&state);
  for (uint32_t i = SAMPLES; i < KILN_MLPERF_AUDIO(WINDOW); ++i) {
    (void)KILN_MLPERF_CALL(feed)(&state, &silence, 1u);
  }
  memset(MODEL->tensor(0), 0, HISTORY);
  rows = 0;
  is_ready = 1;
}

static void hear(const int16_t* samples) {
  uint32_t at = 0;
  kiln_mlperf_processing(1);
  while (at < SAMPLES) {
    at += KILN_MLPERF_CALL(feed)(&state, samples + at, SAMPLES - at);
    if (KILN_MLPERF_CALL(next)(&state, row) != 0) {
      (void)kiln_mlperf_run();
      (void)kiln_mlperf_keep_time();
    }
  }
  kiln_mlperf_processing(0);
}

void kiln_mlperf_start(void) {
  begin();
  kiln_mlperf_processing(1);
  kiln_mlperf_processing(0);
  is_listening = 1;
}

int kiln_mlperf_hear(void) {
  static int16_t samples[SAMPLES];
  int heard = is_listening != 0 ? kiln_mlperf_listen(samples) : -1;
  if (heard > 0) {
    hear(samples);
  }
  return heard >= 0;
}

static void put_list(const int8_t* values, uint32_t first, uint32_t behind, uint32_t size) {
  for (uint32_t i = first; i < behind; ++i) {
    kiln_mlperf_put_text(i != first ? ", " : "");
    kiln_mlperf_put_integer(values[i % size]);
  }
  kiln_mlperf_put_text("]\r\n");
}

void kiln_mlperf_stop(void) {
  is_listening = 0;
  kiln_mlperf_put_text("[");
  put_list(answers, rows > KEPT ? rows - KEPT : 0u, rows, KEPT);
}

static void put_lap(int64_t microseconds) {
  if (microseconds >= 0) {
    kiln_mlperf_put_text("m-lap-us-");
    kiln_mlperf_put_number((uint64_t)microseconds);
    kiln_mlperf_put_text("\r\n");
  }
}

void kiln_mlperf_extract(void) {
  static int16_t samples[SAMPLES];
  if (is_ready == 0) {
    begin();
  }
  for (uint32_t i = 0; i < SAMPLES; ++i) {
    samples[i] = (int16_t)(uint16_t)(kiln_mlperf_loaded(2u * i) | kiln_mlperf_loaded(2u * i + 1u) << 8);
  }
  int64_t before = kiln_mlperf_mark();
  hear(samples);
  int64_t behind = kiln_mlperf_mark();
  put_lap(before);
  put_lap(behind);
  kiln_mlperf_put_text("m-features-[");
  put_list(row, 0u, ROW, ROW);
  kiln_mlperf_put_text("m-activations-[");
  put_list((const int8_t*)MODEL->tensor(1), 0u, KILN_MLPERF_RESULTS, KILN_MLPERF_RESULTS);
}
