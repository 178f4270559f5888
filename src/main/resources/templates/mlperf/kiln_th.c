/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface of MLPerf Tiny's firmware to a submitter's code, for the model of this image.
 */
#include "kiln_th.h"

#include <stdarg.h>

#include "kiln_mlperf.h"

#define WEAK __attribute__((weak))

WEAK size_t ee_get_buffer(uint8_t* buffer, size_t most) {
  (void)buffer;
  (void)most;
  return 0;
}

WEAK void ee_serial_callback(char character) {
  (void)character;
}

WEAK void ee_serial_command_parser_callback(char* command) {
  (void)command;
}

WEAK void th_load_tensor(void) {
  static uint8_t loaded[KILN_MLPERF_BYTES];
  size_t bytes = ee_get_buffer(loaded, sizeof loaded);
  if (bytes != sizeof loaded) {
    th_printf("Input db has %u elemented, expected %u\n", (unsigned)(bytes / kiln_mlperf_element), (unsigned)kiln_mlperf_elements);
    return;
  }
  for (uint32_t i = 0; i < sizeof loaded; ++i) {
    kiln_mlperf_store(i, loaded[i]);
  }
  kiln_mlperf_convert();
}

WEAK void th_infer(void) {
  if (kiln_mlperf_run() != 0) {
    th_printf("e-[The model failed]\r\n");
  }
  (void)kiln_mlperf_keep_time();
}

WEAK void th_results(void) {
  th_printf("m-results-[");
  kiln_mlperf_results();
  th_printf("]\r\n");
}

WEAK void th_pre(void) {}

WEAK void th_post(void) {}

WEAK void th_timestamp(void) {
  int64_t microseconds = kiln_mlperf_mark();
  if (microseconds >= 0) {
    kiln_mlperf_put_text("m-lap-us-");
    kiln_mlperf_put_number((uint64_t)microseconds);
    kiln_mlperf_put_text("\r\n");
  }
}

WEAK void th_timestamp_initialize(void) {
  kiln_mlperf_begin_time();
  th_printf("m-timestamp-mode-%s\r\n", kiln_mlperf_mode);
  th_timestamp();
}

WEAK void th_serialport_initialize(void) {}

WEAK void th_final_initialize(void) {}

WEAK void th_command_ready(char volatile* command) {
  ee_serial_command_parser_callback((char*)command);
}

static void put_hexadecimal(unsigned long number, uint32_t width, char ten) {
  char digits[2u * sizeof number];
  uint32_t count = 0;
  for (; number != 0u || count < width || count == 0u; number >>= 4) {
    char digit = (char)(number & 15u);
    digits[count++] = (char)(digit < 10 ? '0' + digit : ten + digit - 10);
  }
  while (count != 0u) {
    kiln_mlperf_put((uint8_t)digits[--count]);
  }
}

WEAK void th_printf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  for (; *format != '\0'; ++format) {
    if (*format != '%') {
      kiln_mlperf_put((uint8_t)*format);
      continue;
    }
    uint32_t width = 0;
    int is_long = 0;
    for (++format; *format >= '0' && *format <= '9'; ++format) {
      width = (uint32_t)(*format - '0');
    }
    for (; *format == 'l'; ++format) {
      is_long = 1;
    }
    switch (*format) {
      case 's':
        kiln_mlperf_put_text(va_arg(arguments, const char*));
        break;
      case 'c':
        kiln_mlperf_put((uint8_t)va_arg(arguments, int));
        break;
      case 'd':
      case 'i': {
        int64_t number = is_long != 0 ? va_arg(arguments, long) : va_arg(arguments, int);
        kiln_mlperf_put_text(number < 0 ? "-" : "");
        kiln_mlperf_put_number((uint64_t)(number < 0 ? -number : number));
        break;
      }
      case 'u':
        kiln_mlperf_put_number(is_long != 0 ? va_arg(arguments, unsigned long) : va_arg(arguments, unsigned));
        break;
      case 'x':
      case 'X': {
        unsigned long number = is_long != 0 ? va_arg(arguments, unsigned long) : va_arg(arguments, unsigned);
        put_hexadecimal(number, width < 9u ? width : 8u, *format == 'x' ? 'a' : 'A');
        break;
      }
      case '\0':
        --format;
        break;
      default:
        kiln_mlperf_put((uint8_t)*format);
        break;
    }
  }
  va_end(arguments);
}

int kiln_th_poll(void) {
  int character = kiln_mlperf_get();
  if (character < 0) {
    return 0;
  }
  ee_serial_callback((char)character);
  return 1;
}
