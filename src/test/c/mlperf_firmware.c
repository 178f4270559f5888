/* SPDX-License-Identifier: Apache-2.0
 *
 * A firmware of MLPerf Tiny, written from its protocol alone: it takes commands, keeps what is loaded, and calls the model by the names that
 * the benchmark's interface has for a submitter's code. Its own th_final_initialize takes the place of the one beside the model.
 */
#include <stdlib.h>
#include <string.h>

#include "kiln_th.h"

#define MOST_BYTES 4096u
#define LONGEST 80u

static uint8_t loaded[MOST_BYTES];
static size_t expected;
static size_t position;
static char command[LONGEST + 1u];
static size_t length;
static int is_ready;

size_t ee_get_buffer(uint8_t* buffer, size_t most) {
  size_t bytes = position < most ? position : most;
  memcpy(buffer, loaded, bytes);
  return position;
}

void th_final_initialize(void) {
  is_ready = 1;
}

static uint8_t digit(char c) {
  return (uint8_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

static void store(const char* hex) {
  for (; hex[0] != '\0' && hex[1] != '\0' && position < expected; hex += 2) {
    loaded[position++] = (uint8_t)(digit(hex[0]) << 4 | digit(hex[1]));
  }
  if (position == expected) {
    th_printf("m-load-done\r\n");
  }
}

static void infer(char* words) {
  long runs = strtol(words, &words, 10);
  long warmups = strtol(words, NULL, 10);
  th_load_tensor();
  th_printf("m-warmup-start-%ld\r\n", warmups);
  for (long i = 0; i < warmups; ++i) {
    th_infer();
  }
  th_printf("m-warmup-done\r\nm-infer-start-%ld\r\n", runs);
  th_timestamp();
  th_pre();
  for (long i = 0; i < runs; ++i) {
    th_infer();
  }
  th_post();
  th_timestamp();
  th_printf("m-infer-done\r\n");
  th_results();
}

void ee_serial_command_parser_callback(char* text) {
  if (strcmp(text, "name") == 0) {
    th_printf("m-name-dut-[%s]\r\n", "firmware of the benchmark");
  } else if (strcmp(text, "profile") == 0) {
    th_printf("m-profile-[ULPMark for tinyML Firmware V0.0.1]\r\nm-model-[%s]\r\n", "custom");
  } else if (strncmp(text, "db load ", 8) == 0) {
    expected = (size_t)strtoul(text + 8, NULL, 10);
    expected = expected < MOST_BYTES ? expected : MOST_BYTES;
    position = 0;
    th_printf("m-[Expecting %u bytes]\r\n", (unsigned)expected);
  } else if (strncmp(text, "db ", 3) == 0) {
    store(text + 3);
  } else if (strncmp(text, "infer ", 6) == 0) {
    infer(text + 6);
  } else if (strcmp(text, "numbers") == 0) {
    th_printf("%d %i %u %lu %x %02X %08lx %c%% %s|\r\n", -7, 8, 9u, 10ul, 0xabu, 5u, 0xc0ffeeul, 'c', "text");
  } else {
    th_printf("e-[Unknown command: %s]\r\n", text);
  }
  th_printf("m-ready\r\n");
}

void ee_serial_callback(char character) {
  if (character == '%') {
    command[length] = '\0';
    length = 0;
    th_command_ready(command);
  } else if (length < LONGEST) {
    command[length++] = character;
  }
}

int main(void) {
  th_serialport_initialize();
  th_timestamp_initialize();
  th_final_initialize();
  th_printf("m-init-done\r\nm-ready\r\n");
  while (is_ready != 0 && kiln_th_poll() != 0) {
  }
  return 0;
}
