/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes on a line, for tests of the RPC server: what a side wrote, and bytes given as text.
 */
#ifndef RPC_WIRE_H_
#define RPC_WIRE_H_

#include <string.h>
#include <tvm/runtime/crt/rpc_common/write_stream.h>

#include "check.h"

#define WIRE_MOST 1024u

struct wire {
  TVMWriteStream stream;
  uint8_t bytes[WIRE_MOST];
  size_t size;
  size_t room;       /* bytes that it takes in all */
  size_t at_once;    /* bytes that it takes in one call */
  size_t calls;
  size_t done;       /* calls of PacketDone with a good frame */
  size_t bad;        /* ... with a bad one */
  ssize_t result;    /* what Write returns, if it is not 0 */
};

static inline ssize_t wire_write(TVMWriteStream* self, const uint8_t* data, size_t size) {
  struct wire* wire = (struct wire*)self;
  ++wire->calls;
  if (wire->result != 0) {
    return wire->result;
  }
  size_t room = wire->room - wire->size;
  size_t taken = size < room ? size : room;
  if (taken > wire->at_once) {
    taken = wire->at_once;
  }
  memcpy(wire->bytes + wire->size, data, taken);
  wire->size += taken;
  return (ssize_t)taken;
}

static inline void wire_packet_done(TVMWriteStream* self, bool is_valid) {
  struct wire* wire = (struct wire*)self;
  wire->done += is_valid;
  wire->bad += !is_valid;
}

static inline void wire_clear(struct wire* wire) {
  memset(wire, 0, sizeof(*wire));
  wire->stream.Write = wire_write;
  wire->stream.PacketDone = wire_packet_done;
  wire->room = WIRE_MOST;
  wire->at_once = WIRE_MOST;
}

static inline uint32_t wire_digit(char c) {
  return (uint32_t)(c <= '9' ? c - '0' : c - 'A' + 10);
}

/* Reads pairs of hexadecimal digits with spaces between them. Returns how many bytes they are. */
static inline size_t wire_hex(const char* hex, uint8_t* bytes) {
  size_t size = 0;
  for (; hex[0] != '\0'; hex += hex[2] == ' ' ? 3 : 2) {
    bytes[size++] = (uint8_t)(wire_digit(hex[0]) << 4 | wire_digit(hex[1]));
  }
  return size;
}

/* Whether exactly these bytes were written since the last call. */
static inline int wire_took(struct wire* wire, const char* hex) {
  uint8_t bytes[WIRE_MOST];
  size_t size = wire_hex(hex, bytes);
  int equal = size == wire->size && memcmp(bytes, wire->bytes, size) == 0;
  wire->size = 0;
  return equal;
}

#endif
