/* SPDX-License-Identifier: Apache-2.0
 *
 * Console of a device whose UARTs are unknown: two rings in its RAM that a debug probe reads and writes while the core runs. The probe
 * searches the RAM for the block's name; layout and name are those of SEGGER's RTT. The name comes last, and no copy of it lies in flash.
 */
#include <stdint.h>

#include "kiln_cortex_m.h"
#include "kiln_console.h"

#define UP_BYTES 1024u
#define DOWN_BYTES 256u

/* How often a full ring is looked at while somebody reads it. */
#define PATIENCE 1000000u

struct ring {
  const char* name;
  uint8_t* buffer;
  uint32_t bytes;
  volatile uint32_t write;
  volatile uint32_t read;
  uint32_t mode; /* 0: what finds no room is lost */
};

struct block {
  volatile char id[16];
  int32_t up_rings;
  int32_t down_rings;
  struct ring up;
  struct ring down;
};

extern struct block kiln_rtt;
struct block kiln_rtt __attribute__((aligned(16)));
static uint8_t up_bytes[UP_BYTES];
static uint8_t down_bytes[DOWN_BYTES];

/* Where the reader was when the ring was last found full, and whether it has moved since then. */
static uint32_t seen;
static int is_read;

static void ring_init(struct ring* ring, uint8_t* buffer, uint32_t bytes) {
  ring->name = "Terminal";
  ring->buffer = buffer;
  ring->bytes = bytes;
}

void kiln_console_init(void) {
  static const char reversed[] = "TTR REGGES";
  ring_init(&kiln_rtt.up, up_bytes, UP_BYTES);
  ring_init(&kiln_rtt.down, down_bytes, DOWN_BYTES);
  kiln_rtt.up_rings = 1;
  kiln_rtt.down_rings = 1;
  kiln_memory_barrier();
  for (uint32_t i = 0; i < sizeof reversed - 1u; ++i) {
    kiln_rtt.id[i] = reversed[sizeof reversed - 2u - i];
  }
  kiln_memory_barrier();
}

int kiln_console_get(void) {
  struct ring* ring = &kiln_rtt.down;
  const uint32_t at = ring->read;
  while (ring->write == at || ring->write >= DOWN_BYTES) {
  }
  kiln_memory_barrier();
  const uint8_t byte = ring->buffer[at];
  ring->read = (at + 1u) % DOWN_BYTES;
  return byte;
}

void kiln_console_put(uint8_t byte) {
  struct ring* ring = &kiln_rtt.up;
  const uint32_t at = ring->write;
  const uint32_t next = (at + 1u) % UP_BYTES;
  if (ring->read != seen) {
    seen = ring->read;
    is_read = 1;
  }
  for (uint32_t left = is_read != 0 ? PATIENCE : 0u; ring->read == next && left != 0u; --left) {
  }
  if (ring->read == next) {
    is_read = 0;
    return;
  }
  ring->buffer[at] = byte;
  kiln_memory_barrier();
  ring->write = next;
}
