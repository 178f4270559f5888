/* SPDX-License-Identifier: Apache-2.0
 *
 * What an image says to its host when it ends. A board's kiln_board_exit calls kiln_end_report first.
 */
#ifndef KILN_END_H_
#define KILN_END_H_

#include <stdint.h>

#include "kiln_console.h"
#include "kiln_stack.h"

/* The exit code of an image that a fault ended. */
#define KILN_FAULT_EXIT 70

/*
 * Sends the packet by which a host knows the end from everything else that an image prints, in microTVM's framing: FF FD, the length 12,
 * "exit", the code (i32), the deepest use of the stack in bytes (u32; 0 if it is not known), CRC-16-CCITT (u16); numbers little endian, a
 * data byte FF is sent twice.
 */
__attribute__((cold)) static inline void kiln_end_report(int code) {
  static const uint8_t head[] = {0xff, 0xfd, 12, 0, 0, 0, 'e', 'x', 'i', 't'};
  const uint32_t used = kiln_stack_used != 0 ? kiln_stack_used() : 0u;
  uint32_t crc = 0xffffu;
  uint32_t rest = (uint32_t)code;
  for (uint32_t i = 0; i < sizeof head + 10u; ++i) {
    uint32_t byte = rest & 0xffu;
    if (i < sizeof head) {
      byte = head[i];
    } else {
      rest >>= 8;
    }
    uint32_t twice = byte == 0xffu && i >= 2u;
    do {
      kiln_console_put((uint8_t)byte);
      uint32_t mixed = crc >> 8 ^ byte;
      mixed ^= mixed >> 4;
      crc = (crc << 8 ^ mixed << 12 ^ mixed << 5 ^ mixed) & 0xffffu;
    } while (twice-- != 0u);
    if (i == sizeof head + 3u) {
      rest = used;
    } else if (i == sizeof head + 7u) {
      rest = crc;
    }
  }
}

/* Prints a text with the next of some words, in hexadecimal, for each #. */
__attribute__((cold, unused)) static inline void kiln_end_text(const char* text, const uint32_t* word) {
  for (; *text != '\0'; ++text) {
    if (*text != '#') {
      kiln_console_put((uint8_t)*text);
      continue;
    }
    uint32_t value = *word++;
    for (uint32_t digits = 8; digits != 0u; --digits) {
      uint32_t digit = value >> 28;
      kiln_console_put((uint8_t)(digit < 10u ? '0' + digit : 'a' - 10u + digit));
      value <<= 4;
    }
  }
}

#endif
