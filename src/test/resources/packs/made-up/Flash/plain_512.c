/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of sectors of a flash algorithm, without the algorithm:
 * arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -nostdlib -Wl,-e,0,-Ttext=0,-z,max-page-size=4,--build-id=none -o plain_512.FLM plain_512.c
 */
#include <stdint.h>

struct sector {
  uint32_t bytes;
  uint32_t offset;
};

__attribute__((section("DevDscr"), used)) const struct {
  uint16_t version;
  char name[128];
  uint16_t type;
  uint32_t address, bytes, page, reserved;
  uint8_t erased;
  uint32_t program_ms, erase_ms;
  struct sector sectors[5];
} FlashDevice = {0x101, "Plain 512 KiB", 1, 0x08000000, 0x80000, 0x400, 0, 0xff, 100, 6000,
                 {{0x4000, 0}, {0x10000, 0x10000}, {0x20000, 0x20000}, {UINT32_MAX, UINT32_MAX}, {0, 0}}};
