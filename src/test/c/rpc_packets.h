/* SPDX-License-Identifier: Apache-2.0
 *
 * Payloads and their frames, as microTVM writes them.
 */
#ifndef RPC_PACKETS_H_
#define RPC_PACKETS_H_

#include <tvm/runtime/crt/rpc_common/frame_buffer.h>
#include <tvm/runtime/crt/rpc_common/framing.h>
#include "rpc_wire.h"

#define ONE "FF FD 03 00 00 00 6F 6E 65 58 F4"
#define EMPTY "FF FD 00 00 00 00 83 44"

static struct wire wire;

static const uint8_t escaped_text[] = "es_\xff_capeir/^>t@\"hr";

/* A payload whose length needs an escape: 255 bytes of 'a'. */
static uint8_t long_text[255];

struct packet {
  const uint8_t* payload;
  size_t size;
  uint8_t frame[600];
  size_t frame_size;
};

static struct packet packets[4];

static void write_frame(TVMFramer* framer, struct packet* packet) {
  wire_clear(&wire);
  EXPECT(TVMFramer_Write(framer, packet->payload, packet->size) == kTvmErrorNoError);
  memcpy(packet->frame, wire.bytes, wire.size);
  packet->frame_size = wire.size;
}

static void make_packets(void) {
  static const uint8_t one[] = {'o', 'n', 'e'};
  TVMFramer framer;
  memset(long_text, 'a', sizeof(long_text));
  packets[0] = (struct packet){one, sizeof(one), {0}, 0};
  packets[1] = (struct packet){one, 0, {0}, 0};
  packets[2] = (struct packet){escaped_text, sizeof(escaped_text) - 1u, {0}, 0};
  packets[3] = (struct packet){long_text, sizeof(long_text), {0}, 0};
  wire_clear(&wire);
  TVMFramer_Init(&framer, &wire.stream);
  EXPECT(TVMFramer_Write(&framer, one, 0) == kTvmErrorNoError);
  for (size_t i = 0; i < 4u; ++i) {
    write_frame(&framer, &packets[i]);
  }
}

#endif
