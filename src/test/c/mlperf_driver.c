/* SPDX-License-Identifier: Apache-2.0
 *
 * The protocol of MLPerf Tiny on this computer: commands from standard input, answers to standard output. Time is invented: each moment is
 * 37 microseconds after the last one, and an inference behind one takes 2,500, as if warming up took none. The model finds class 7 in whatever it was given, and nothing before.
 * With arguments, it is given that many random characters by a seed in place of the input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "kiln_mlperf.h"

#define BYTES 490u
#define CLASSES 12u

const char kiln_mlperf_vendor[] = "kiln";
const char kiln_mlperf_benchmark[] = "kws01";
const char kiln_mlperf_mode[] = "performance";
const uint32_t kiln_mlperf_bytes = BYTES;
const uint32_t kiln_mlperf_element = 1;
const uint32_t kiln_mlperf_elements = BYTES;

static int64_t now = 1000;
static uint8_t* data; /* on the heap, whose bounds are watched */
static int has_input;
static int is_timed;
static int is_quiet;
static char last[9]; /* characters that were sent */

void kiln_mlperf_put(uint8_t character) {
  memmove(last, last + 1, sizeof last - 1u);
  last[sizeof last - 1u] = (char)character;
  if (!is_quiet) {
    putchar(character);
  }
}

int64_t kiln_mlperf_mark(void) {
  now += 37;
  is_timed = 1;
  return now - 37;
}

int kiln_mlperf_keep_time(void) {
  return 1;
}

void kiln_mlperf_store(uint32_t at, uint8_t byte) {
  EXPECT(at < BYTES);
  data[at] = byte;
}

uint8_t kiln_mlperf_loaded(uint32_t at) {
  return data[at];
}

void kiln_mlperf_convert(void) {
  has_input = 1;
}

int32_t kiln_mlperf_run(void) {
  now += is_timed != 0 ? 2500 : 0;
  return 0;
}

void kiln_mlperf_results(void) {
  is_timed = 0;
  for (uint32_t i = 0; i < CLASSES; ++i) {
    if (i != 0u) {
      kiln_mlperf_put(',');
    }
    kiln_mlperf_put_thousandths(has_input != 0 && i == 7u ? 996u : 0u, 0);
  }
}

#ifdef KILN_MLPERF_STREAM
void kiln_mlperf_start(void) {
  has_input = 0;
}

void kiln_mlperf_stop(void) {
  kiln_mlperf_put_text("[]\r\n");
}

void kiln_mlperf_extract(void) {
  kiln_mlperf_put_text("m-activations-[");
  kiln_mlperf_put_integer(INT32_MIN);
  kiln_mlperf_put_text("]\r\n");
}
#endif

/* Characters that make commands often. */
static uint8_t any(void) {
  static const char* const words[] = {"db ", "load ", "print", "infer ", "results", "name", "start", "stop", "extract_uart_stream", "-1", "490", "7 0", "00", "ff"};
  static const char* word = "";
  if (*word == '\0' && rand() % 3 == 0) {
    word = words[(size_t)rand() % (sizeof words / sizeof words[0])];
  }
  if (*word != '\0') {
    return (uint8_t)*word++;
  }
  return rand() % 8 == 0 ? '%' : (uint8_t)rand();
}

static void feed(long characters, unsigned seed) {
  is_quiet = 1;
  srand(seed);
  for (long i = 0; i < characters; ++i) {
    uint8_t character = any();
    kiln_mlperf_accept(character);
    EXPECT(character != '%' || memcmp(last, "m-ready\r\n", sizeof last) == 0);
  }
}

int main(int argc, char** argv) {
  data = calloc(BYTES, 1);
  EXPECT(data != NULL);
  kiln_mlperf_begin();
  if (argc == 3) {
    feed(atol(argv[1]), (unsigned)atol(argv[2]));
  } else {
    for (int character = getchar(); character >= 0; character = getchar()) {
      kiln_mlperf_accept((uint8_t)character);
    }
  }
  free(data);
  return 0;
}
