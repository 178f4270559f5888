/* SPDX-License-Identifier: Apache-2.0 */
#include "kiln_app_frame.h"

#include "kiln_console.h"

#define ESCAPE 0xffu
#define NOP 0xfeu
#define START 0xfdu

/* CRCs of the packet that is being received and of the one that is being sent. */
static uint16_t received;
static uint16_t sent;

static uint16_t crc_add(uint16_t crc, uint32_t byte) {
  uint32_t value = crc ^ (byte << 8);
  for (int bit = 0; bit < 8; ++bit) {
    value = (value & 0x8000u) != 0u ? (value << 1) ^ 0x1021u : value << 1;
  }
  return (uint16_t)value;
}

static uint16_t crc_start(void) {
  return crc_add(crc_add(0xffffu, ESCAPE), START);
}

int kiln_frame_find(void) {
  for (;;) {
    int byte = kiln_console_get();
    while (byte == (int)ESCAPE) {
      byte = kiln_console_get();
      if (byte == (int)START) {
        return 0;
      }
    }
    if (byte < 0) {
      return KILN_FRAME_ENDED;
    }
  }
}

void kiln_frame_accept(void) {
  received = crc_start();
}

int kiln_frame_get(void) {
  for (;;) {
    int byte = kiln_console_get();
    if (byte == (int)ESCAPE) {
      byte = kiln_console_get();
      if (byte == (int)NOP) {
        received = crc_add(crc_add(received, ESCAPE), NOP);
        continue;
      }
      if (byte == (int)START) {
        return KILN_FRAME_STARTED;
      }
      if (byte >= 0 && byte != (int)ESCAPE) {
        return KILN_FRAME_BROKEN;
      }
      received = crc_add(received, ESCAPE);
    }
    if (byte < 0) {
      return KILN_FRAME_ENDED;
    }
    received = crc_add(received, (uint32_t)byte);
    return byte;
  }
}

int kiln_frame_check(void) {
  uint16_t expected = received;
  int low = kiln_frame_get();
  if (low < 0) {
    return low;
  }
  int high = kiln_frame_get();
  if (high < 0) {
    return high;
  }
  return (low | high << 8) == expected;
}

static void put_raw(uint32_t byte) {
  sent = crc_add(sent, byte);
  kiln_console_put((uint8_t)byte);
}

void kiln_frame_begin(uint32_t length) {
  sent = 0xffffu;
  put_raw(ESCAPE);
  put_raw(START);
  kiln_frame_put_u32(length);
}

void kiln_frame_put(uint8_t byte) {
  if (byte == ESCAPE) {
    put_raw(ESCAPE);
  }
  put_raw(byte);
}

void kiln_frame_put_u32(uint32_t value) {
  for (int i = 0; i < 4; ++i) {
    kiln_frame_put((uint8_t)(value & 0xffu));
    value >>= 8;
  }
}

void kiln_frame_end(void) {
  uint32_t crc = sent;
  kiln_frame_put((uint8_t)(crc & 0xffu));
  kiln_frame_put((uint8_t)(crc >> 8));
}
