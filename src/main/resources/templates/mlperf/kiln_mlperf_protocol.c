/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands and answers of MLPerf Tiny. The texts, their misspellings included, are those that the benchmark's runners know. What they leave
 * open is bounded: a command that is too long, a buffer that is too large and bytes without room are refused, and every '%' is answered.
 */
#include "kiln_mlperf.h"

#define READY "m-ready\r\n"
#define USUAL_RUNS 1
#define USUAL_WARMUPS 10

/* The streaming benchmark's firmware calls itself otherwise, and says of loading what it does in other words. */
#ifdef KILN_MLPERF_STREAM
#define PROFILE "MLPerf Tiny Firmware V0.1.0"
#define EXPECTING "Expecting "
#define EXPECTED " bytes\r\n"
#else
#define PROFILE "ULPMark for tinyML Firmware V0.0.1"
#define EXPECTING "m-[Expecting "
#define EXPECTED " bytes]\r\n"
#endif

/* A word of the command. */
struct word {
  const char* text;
  uint32_t length;
};

static char command[KILN_MLPERF_COMMAND];
static uint32_t length; /* of the command, with what did not fit */

static uint32_t size;     /* bytes that the host announced */
static uint32_t position; /* bytes that came */

static void put_word(struct word word) {
  for (uint32_t i = 0; i < word.length; ++i) {
    kiln_mlperf_put((uint8_t)word.text[i]);
  }
}

/* The next word of the command from a place on, which moves behind it; empty at the end. */
static struct word next_word(uint32_t* at) {
  while (*at < length && command[*at] == ' ') {
    ++*at;
  }
  struct word word = {command + *at, 0};
  while (*at < length && command[*at] != ' ') {
    ++*at;
    ++word.length;
  }
  return word;
}

static int is(struct word word, const char* text) {
  uint32_t i = 0;
  while (i < word.length && text[i] != '\0' && word.text[i] == text[i]) {
    ++i;
  }
  return i == word.length && text[i] == '\0';
}

/* The number that a word begins with, as atoi reads it; the largest of int32_t if it is larger. */
static int32_t number(struct word word) {
  uint32_t i = 0;
  int is_negative = word.length != 0u && word.text[0] == '-';
  if (word.length != 0u && (word.text[0] == '-' || word.text[0] == '+')) {
    ++i;
  }
  int32_t value = 0;
  for (; i < word.length && word.text[i] >= '0' && word.text[i] <= '9'; ++i) {
    int32_t digit = word.text[i] - '0';
    value = value > (INT32_MAX - digit) / 10 ? INT32_MAX : value * 10 + digit;
  }
  return is_negative != 0 ? -value : value;
}

static void put_count(const char* text, uint32_t count, const char* rest) {
  kiln_mlperf_put_text(text);
  kiln_mlperf_put_number(count);
  kiln_mlperf_put_text(rest);
}

static void timestamp(void) {
  int64_t microseconds = kiln_mlperf_mark();
  if (microseconds >= 0) {
    kiln_mlperf_put_text("m-lap-us-");
    kiln_mlperf_put_number((uint64_t)microseconds);
    kiln_mlperf_put_text("\r\n");
  }
}

static void help(void) {
  kiln_mlperf_put_text("ULPMark for tinyML Firmware V0.0.1\r\n"
      "\r\n"
      "help         : Print this information\r\n"
      "name         : Print the name of the device\r\n"
      "timestsamp   : Generate a timetsamp\r\n"
      "db SUBCMD    : Manipulate a generic byte buffer\r\n"
      "  load N     : Allocate N bytes and set load counter\r\n"
      "  db HH[HH]* : Load 8-bit hex byte(s) until N bytes\r\n"
      "  print [N=16] [offset=0]\r\n"
      "             : Print N bytes at offset as hex\r\n"
      "infer N [W=0]: Load input, execute N inferences after W warmup loops\r\n"
      "results      : Return the result fp32 vector\r\n");
}

static void load(struct word count) {
  size = 0;
  position = 0;
  if (count.length == 0u) {
    kiln_mlperf_put_text("e-[Command 'db load' requires the # of bytes]\r\n");
    return;
  }
  int32_t bytes = number(count);
  if (bytes <= 0) {
    kiln_mlperf_put_text("e-[Command 'db load' must be >0 bytes]\r\n");
  } else if ((uint32_t)bytes > kiln_mlperf_bytes) {
    put_count("Supplied buffer size ", (uint32_t)bytes, " exceeds maximum of ");
    put_count("", kiln_mlperf_bytes, "\n");
  } else {
    size = (uint32_t)bytes;
    put_count(EXPECTING, size, EXPECTED);
  }
}

static int digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  char lower = (char)(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

static void store(struct word hex) {
  if ((hex.length & 1u) != 0u) {
    kiln_mlperf_put_text("e-[Insufficent number of hex digits]\r\n");
    return;
  }
  for (uint32_t i = 0; i < hex.length; i += 2u) {
    int high = digit(hex.text[i]);
    int low = digit(hex.text[i + 1u]);
    if (high < 0 || low < 0) {
      struct word pair = {hex.text + i, 2};
      kiln_mlperf_put_text("e-[Invalid hex digit '");
      put_word(pair);
      kiln_mlperf_put_text("']\r\n");
      return;
    }
    if (position < size) {
      kiln_mlperf_store(position, (uint8_t)(high << 4 | low));
      ++position;
      if (position == size) {
#ifdef KILN_MLPERF_STREAM
        put_count("", size, " bytes received\r\n");
#endif
        kiln_mlperf_put_text("m-load-done\r\n");
        return;
      }
    }
  }
}

static void print_buffer(void) {
  static const char digits[] = "0123456789abcdef";
  for (uint32_t i = 0; i < size; ++i) {
    uint8_t byte = kiln_mlperf_loaded(i);
    kiln_mlperf_put_text(i % 8u == 0u ? "m-buffer-" : "-");
    kiln_mlperf_put((uint8_t)digits[byte >> 4]);
    kiln_mlperf_put((uint8_t)digits[byte & 15u]);
    if (i % 8u == 7u || i + 1u == size) {
      kiln_mlperf_put_text("\r\n");
    }
  }
  if (size % 8u != 0u) {
    kiln_mlperf_put_text("\r\n");
  }
}

static void buffer(uint32_t at) {
  struct word what = next_word(&at);
  if (what.length == 0u) {
    kiln_mlperf_put_text("e-[Command 'db' requires a subcommand]\r\n");
  } else if (is(what, "load")) {
    load(next_word(&at));
  } else if (is(what, "print")) {
    print_buffer();
  } else {
    store(what);
  }
}

#ifdef KILN_MLPERF_STREAM
static void extract(void) {
  if (position == kiln_mlperf_bytes) {
    kiln_mlperf_extract();
  } else {
    put_count("e-[", position, " bytes are loaded]\r\n");
  }
}

static void start(void) {
  timestamp();
  kiln_mlperf_start();
  kiln_mlperf_put_text("Listening for I2S data ... \r\nDMA receive initiated.\r\n");
}

static void stop(void) {
  timestamp();
  kiln_mlperf_put_text("Streaming stopped.\r\ntarget activations: \r\n");
  kiln_mlperf_stop();
}
#else
static void results(void) {
  kiln_mlperf_put_text("m-results-[");
  kiln_mlperf_results();
  kiln_mlperf_put_text("]\r\n");
}

/* Runs the model some times; 0 if it went well. */
static int32_t repeat(int32_t times, int* is_time_known) {
  int32_t result = 0;
  for (int32_t i = 0; i < times && result == 0; ++i) {
    result = kiln_mlperf_run();
    *is_time_known &= kiln_mlperf_keep_time();
  }
  return result;
}

static void infer(uint32_t at) {
  struct word first = next_word(&at);
  struct word second = next_word(&at);
  int32_t runs = first.length == 0u ? USUAL_RUNS : number(first);
  int32_t warmups = second.length == 0u ? USUAL_WARMUPS : number(second);
  if (runs <= 0) {
    kiln_mlperf_put_text("e-[Inference iterations must be >0]\r\n");
    return;
  }
  if (warmups < 0) {
    kiln_mlperf_put_text("e-[Inference warmup must be >=0]\r\n");
    return;
  }
  if (position == kiln_mlperf_bytes) {
    kiln_mlperf_convert();
  } else {
    put_count("Input db has ", position / kiln_mlperf_element, " elemented, expected ");
    put_count("", kiln_mlperf_elements, "\n");
  }
  int is_time_known = 1;
  put_count("m-warmup-start-", (uint32_t)warmups, "\r\n");
  int32_t result = repeat(warmups, &is_time_known);
  kiln_mlperf_put_text("m-warmup-done\r\n");
  put_count("m-infer-start-", (uint32_t)runs, "\r\n");
  is_time_known = 1;
  timestamp();
  result = result == 0 ? repeat(runs, &is_time_known) : result;
  timestamp();
  kiln_mlperf_put_text("m-infer-done\r\n");
  if (result != 0) {
    kiln_mlperf_put_text("e-[The model failed]\r\n");
  } else if (is_time_known == 0) {
    kiln_mlperf_put_text("e-[An inference took longer than the timer counts]\r\n");
  } else {
    results();
  }
}

#endif

static void obey(void) {
  uint32_t at = 0;
  struct word word = next_word(&at);
#ifdef KILN_MLPERF_STREAM
  kiln_mlperf_put_text("Received command: ");
  put_word(word);
  kiln_mlperf_put_text("\r\n");
#endif
  if (is(word, "name")) {
    kiln_mlperf_put_text("m-name-dut-[");
    kiln_mlperf_put_text(kiln_mlperf_vendor);
    kiln_mlperf_put_text("]\r\n");
  } else if (is(word, "timestamp")) {
    timestamp();
  } else if (is(word, "profile")) {
    kiln_mlperf_put_text("m-profile-[" PROFILE "]\r\nm-model-[");
    kiln_mlperf_put_text(kiln_mlperf_benchmark);
    kiln_mlperf_put_text("]\r\n");
  } else if (is(word, "help")) {
    help();
  } else if (is(word, "db")) {
    buffer(at);
#ifdef KILN_MLPERF_STREAM
  } else if (is(word, "start")) {
    start();
  } else if (is(word, "stop")) {
    stop();
  } else if (is(word, "extract_uart_stream")) {
    extract();
#else
  } else if (is(word, "infer")) {
    infer(at);
  } else if (is(word, "results")) {
    results();
#endif
  } else {
    kiln_mlperf_put_text("e-[Unknown command: ");
    put_word(word);
    kiln_mlperf_put_text("]\r\n");
  }
}

void kiln_mlperf_begin(void) {
  kiln_mlperf_put_text("m-timestamp-mode-");
  kiln_mlperf_put_text(kiln_mlperf_mode);
  kiln_mlperf_put_text("\r\n");
  timestamp();
  kiln_mlperf_put_text("m-init-done\r\n" READY);
}

void kiln_mlperf_accept(uint8_t character) {
  if (character != '%') {
    if (length < KILN_MLPERF_COMMAND) {
      command[length] = (char)character;
    }
    length += length <= KILN_MLPERF_COMMAND;
    return;
  }
  if (length > KILN_MLPERF_COMMAND) {
    kiln_mlperf_put_text("e-[Command too long]\r\n");
  } else {
    obey();
  }
  length = 0;
  kiln_mlperf_put_text(READY);
}
