/* SPDX-License-Identifier: Apache-2.0
 *
 * Damages bytes at random, the same on every run.
 */
#ifndef RPC_MUTATIONS_H_
#define RPC_MUTATIONS_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uint64_t random_state;

static uint32_t draw(uint32_t below) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (uint32_t)((random_state >> 32) % below);
}

static void flip(uint8_t* bytes, size_t size) {
  if (size > 0u) {
    bytes[draw((uint32_t)size)] ^= (uint8_t)(1u << draw(8));
  }
}

/* Bytes that mean something, at a place where something may be. */
static void overwrite(uint8_t* bytes, size_t size) {
  static const uint8_t odd[] = {0x00, 0x01, 0x7f, 0x80, 0xfd, 0xfe, 0xff};
  for (uint32_t count = 1u + draw(8); count > 0u && size > 0u; --count) {
    bytes[draw((uint32_t)size)] = odd[draw(sizeof(odd))];
  }
}

/* Changes up to a few places of a run of bytes, of which there is room for one and a half. Returns its size. */
static size_t mutate(uint8_t* bytes, size_t size, size_t room) {
  for (uint32_t count = 1u + draw(3); count > 0u; --count) {
    size_t at = size == 0u ? 0u : draw((uint32_t)size);
    size_t some = size == at ? 0u : 1u + draw((uint32_t)(size - at < 24u ? size - at : 24u));
    switch (draw(5)) {
      case 0:
        flip(bytes, size);
        break;
      case 1:
        overwrite(bytes + at, some);
        break;
      case 2: /* cut */
        memmove(bytes + at, bytes + at + some, size - at - some);
        size -= some;
        break;
      case 3: /* cut off */
        size = draw(4) == 0u ? at : size;
        break;
      default: /* repeat, which inserts bytes */
        if (size + some <= room) {
          memmove(bytes + at + some, bytes + at, size - at);
          size += some;
        }
        break;
    }
  }
  return size;
}

#endif
