/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts and numbers on the line.
 */
#include "kiln_mlperf.h"

void kiln_mlperf_put_text(const char* text) {
  for (; *text != '\0'; ++text) {
    kiln_mlperf_put((uint8_t)*text);
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

void kiln_mlperf_put_integer(int32_t number) {
  if (number < 0) {
    kiln_mlperf_put('-');
  }
  kiln_mlperf_put_number((uint64_t)(number < 0 ? -(int64_t)number : number));
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
