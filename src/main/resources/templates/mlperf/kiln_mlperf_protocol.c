/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands and answers of MLPerf Tiny. The texts, their misspellings included, are those that the benchmark's runners know. What they leave
 * open is bounded: a command that is too long, a buffer that is too large and bytes without room are refused, and every '%' is answered.
 */
#include "kiln_mlperf.h"

#define READY "m-ready\r\n"
#define USUAL_RUNS 1
#define USUAL_WARMUPS 10

/* A word of the command. */
struct word {
  const char* text;
  uint32_t length;
};

static char command[KILN_MLPERF_COMMAND];
static uint32_t length; /* of the command, with what did not fit */

static uint32_t size;     /* bytes that the host announced */
static uint32_t position; /* bytes that came */

static void put(const char* text) {
  for (; *text != '\0'; ++text) {
    kiln_mlperf_put((uint8_t)*text);
  }
}

static void put_word(struct word word) {
  for (uint32_t i = 0; i < word.length; ++i) {
    kiln_mlperf_put((uint8_t)word.text[i]);
  }
}

void kiln_mlperf_put_number(uint64_t number) {
  char digits[20];
  uint32_t count = 0;
  do {
    digits[count++] = (char)('0' + number % 10u);
    number /= 10u;
  } while (number != 0u);
  while (count != 0u) {
    kiln_mlperf_put((uint8_t)digits[--count]);
  }
}

void kiln_mlperf_put_thousandths(uint64_t thousandths, int is_negative) {
  if (is_negative != 0) {
    kiln_mlperf_put('-');
  }
  kiln_mlperf_put_number(thousandths / 1000u);
  kiln_mlperf_put('.');
  for (uint32_t unit = 100u; unit != 0u; unit /= 10u) {
    kiln_mlperf_put((uint8_t)('0' + thousandths / unit % 10u));
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
  put(text);
  kiln_mlperf_put_number(count);
  put(rest);
}

static void timestamp(void) {
  int64_t microseconds = kiln_mlperf_mark();
  if (microseconds >= 0) {
    put("m-lap-us-");
    kiln_mlperf_put_number((uint64_t)microseconds);
    put("\r\n");
  }
}

static void help(void) {
  put("ULPMark for tinyML Firmware V0.0.1\r\n"
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
    put("e-[Command 'db load' requires the # of bytes]\r\n");
    return;
  }
  int32_t bytes = number(count);
  if (bytes <= 0) {
    put("e-[Command 'db load' must be >0 bytes]\r\n");
  } else if ((uint32_t)bytes > kiln_mlperf_bytes) {
    put_count("Supplied buffer size ", (uint32_t)bytes, " exceeds maximum of ");
    put_count("", kiln_mlperf_bytes, "\n");
  } else {
    size = (uint32_t)bytes;
    put_count("m-[Expecting ", size, " bytes]\r\n");
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
    put("e-[Insufficent number of hex digits]\r\n");
    return;
  }
  for (uint32_t i = 0; i < hex.length; i += 2u) {
    int high = digit(hex.text[i]);
    int low = digit(hex.text[i + 1u]);
    if (high < 0 || low < 0) {
      struct word pair = {hex.text + i, 2};
      put("e-[Invalid hex digit '");
      put_word(pair);
      put("']\r\n");
      return;
    }
    if (position < size) {
      kiln_mlperf_store(position, (uint8_t)(high << 4 | low));
      ++position;
      if (position == size) {
        put("m-load-done\r\n");
        return;
      }
    }
  }
}

static void print_buffer(void) {
  static const char digits[] = "0123456789abcdef";
  for (uint32_t i = 0; i < size; ++i) {
    uint8_t byte = kiln_mlperf_loaded(i);
    put(i % 8u == 0u ? "m-buffer-" : "-");
    kiln_mlperf_put((uint8_t)digits[byte >> 4]);
    kiln_mlperf_put((uint8_t)digits[byte & 15u]);
    if (i % 8u == 7u || i + 1u == size) {
      put("\r\n");
    }
  }
  if (size % 8u != 0u) {
    put("\r\n");
  }
}

static void buffer(uint32_t at) {
  struct word what = next_word(&at);
  if (what.length == 0u) {
    put("e-[Command 'db' requires a subcommand]\r\n");
  } else if (is(what, "load")) {
    load(next_word(&at));
  } else if (is(what, "print")) {
    print_buffer();
  } else {
    store(what);
  }
}

static void results(void) {
  put("m-results-[");
  kiln_mlperf_results();
  put("]\r\n");
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
    put("e-[Inference iterations must be >0]\r\n");
    return;
  }
  if (warmups < 0) {
    put("e-[Inference warmup must be >=0]\r\n");
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
  put("m-warmup-done\r\n");
  put_count("m-infer-start-", (uint32_t)runs, "\r\n");
  is_time_known = 1;
  timestamp();
  result = result == 0 ? repeat(runs, &is_time_known) : result;
  timestamp();
  put("m-infer-done\r\n");
  if (result != 0) {
    put("e-[The model failed]\r\n");
  } else if (is_time_known == 0) {
    put("e-[An inference took longer than the timer counts]\r\n");
  } else {
    results();
  }
}

static void obey(void) {
  uint32_t at = 0;
  struct word word = next_word(&at);
  if (is(word, "name")) {
    put("m-name-dut-[");
    put(kiln_mlperf_vendor);
    put("]\r\n");
  } else if (is(word, "timestamp")) {
    timestamp();
  } else if (is(word, "profile")) {
    put("m-profile-[ULPMark for tinyML Firmware V0.0.1]\r\nm-model-[");
    put(kiln_mlperf_benchmark);
    put("]\r\n");
  } else if (is(word, "help")) {
    help();
  } else if (is(word, "db")) {
    buffer(at);
  } else if (is(word, "infer")) {
    infer(at);
  } else if (is(word, "results")) {
    results();
  } else {
    put("e-[Unknown command: ");
    put_word(word);
    put("]\r\n");
  }
}

void kiln_mlperf_begin(void) {
  put("m-timestamp-mode-");
  put(kiln_mlperf_mode);
  put("\r\n");
  timestamp();
  put("m-init-done\r\n" READY);
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
    put("e-[Command too long]\r\n");
  } else {
    obey();
  }
  length = 0;
  put(READY);
}
