/* SPDX-License-Identifier: Apache-2.0
 *
 * The default application's side of microTVM's framing, fed by a console that holds some bytes.
 */
#include <string.h>

#include "check.h"
#include "kiln_app_frame.h"
#include "kiln_console.h"

#define MOST 64u

static uint8_t wire[MOST];
static size_t wire_size;
static size_t wire_at;

int kiln_console_get(void) {
  return wire_at < wire_size ? wire[wire_at++] : -1;
}

void kiln_console_put(uint8_t byte) {
  EXPECT(wire_size < MOST);
  wire[wire_size++] = byte;
}

static uint32_t digit(char c) {
  return (uint32_t)(c <= '9' ? c - '0' : c - 'A' + 10);
}

/* Fills the console with bytes that are given as hexadecimal digits in pairs, spaces between them. */
static void console(const char* hex) {
  wire_size = 0;
  wire_at = 0;
  for (; hex[0] != '\0'; hex += hex[2] == ' ' ? 3 : 2) {
    kiln_console_put((uint8_t)(digit(hex[0]) << 4 | digit(hex[1])));
  }
}

/* Reads a packet whose start was found. 1 if it is whole and holds the text, 0 if the CRC differs, or a code of kiln_frame_get. */
static int read_packet(const char* text) {
  uint32_t length = 0;
  kiln_frame_accept();
  for (uint32_t i = 0; i < 4u; ++i) {
    int byte = kiln_frame_get();
    if (byte < 0) {
      return byte;
    }
    length |= (uint32_t)byte << (8u * i);
  }
  uint32_t expected = (uint32_t)strlen(text);
  for (uint32_t i = 0; i < length; ++i) {
    int byte = kiln_frame_get();
    if (byte < 0) {
      return byte;
    }
    EXPECT(i < expected && (uint8_t)text[i] == byte);
  }
  EXPECT(length == expected);
  return kiln_frame_check();
}

static int find_and_read(const char* hex, const char* text) {
  console(hex);
  int found = kiln_frame_find();
  return found < 0 ? found : read_packet(text);
}

static void frames_are_taken(void) {
  EXPECT(find_and_read("FF FD 03 00 00 00 6F 6E 65 58 F4", "one") == 1);
  EXPECT(find_and_read("FF FD 00 00 00 00 83 44", "") == 1);
  EXPECT(find_and_read("FE FF FD 03 00 00 00 6F 6E 65 58 F4", "one") == 1);
  EXPECT(find_and_read("6F FF FF FD 03 00 00 00 6F 6E 65 58 F4", "one") == 1);
  EXPECT(find_and_read("FF FD 03 00 00 00 6F 6E 65 58 F5", "one") == 0);
}

/* A filler counts into the CRC up to the last byte of the payload, and not behind it. */
static void fillers_inside_are_skipped_and_count(void) {
  EXPECT(find_and_read("FF FD 03 00 00 00 6F FF FE 6E 65 3D 28", "one") == 1);
  EXPECT(find_and_read("FF FD FF FE 03 00 00 00 6F 6E 65 D5 FA", "one") == 1);
  EXPECT(find_and_read("FF FD 03 FF FE 00 00 00 6F 6E 65 ED D9", "one") == 1);
  EXPECT(find_and_read("FF FD 03 00 00 00 FF FE 6F 6E 65 0A 37", "one") == 1);
  EXPECT(find_and_read("FF FD 03 00 00 00 6F FF FE FF FE 6E 65 74 44", "one") == 1);
  EXPECT(find_and_read("FF FD 01 00 00 00 FF FE FF FF 4B 2F", "\xff") == 1);
  EXPECT(find_and_read("FF FD 02 00 00 00 FF FF FF FE FF FF D6 DE", "\xff\xff") == 1);
  EXPECT(find_and_read("FF FD 03 00 00 00 6F 6E 65 FF FE 58 F4", "one") == 1);
  EXPECT(find_and_read("FF FD 03 00 00 00 6F 6E 65 58 FF FE F4", "one") == 1);
  EXPECT(find_and_read("FF FD 00 00 00 00 FF FE 83 44", "") == 1);
  EXPECT(find_and_read("FF FD 03 00 00 00 6F FF FE 6E 65 58 F4", "one") == 0);
}

static void what_interrupts_a_frame_is_told(void) {
  EXPECT(find_and_read("FF FD 03 00 00 00 6F FF 00 6E 65 58 F4", "one") == KILN_FRAME_BROKEN);
  EXPECT(find_and_read("FF FD 03 00 00 00 6F", "one") == KILN_FRAME_ENDED);
  EXPECT(find_and_read("FF FE 00 FF", "one") == KILN_FRAME_ENDED);
  EXPECT(find_and_read("FF FD 03 00 00 00 6F FF FE FF FD 03 00 00 00 6F 6E 65 58 F4", "one") == KILN_FRAME_STARTED);
  EXPECT(read_packet("one") == 1);
}

static void what_is_sent_is_taken(void) {
  static const char text[] = "es_\xff_capeir/^>t@\"hr";
  static const uint8_t end[] = {0xb4u, 0xffu, 0xffu};
  console("");
  kiln_frame_begin((uint32_t)strlen(text));
  for (const char* c = text; *c != '\0'; ++c) {
    kiln_frame_put((uint8_t)*c);
  }
  kiln_frame_end();
  EXPECT(memcmp(wire + wire_size - sizeof(end), end, sizeof(end)) == 0);
  EXPECT(kiln_frame_find() == 0);
  EXPECT(read_packet(text) == 1);
  EXPECT(wire_at == wire_size);
}

int main(void) {
  frames_are_taken();
  fillers_inside_are_skipped_and_count();
  what_interrupts_a_frame_is_told();
  what_is_sent_is_taken();
  return 0;
}
