/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads signatures from standard input and writes a character for each, 1 if it is right and 0 if not. A signature is: key (32 bytes),
 * signature (64), length of the message (u32, little endian), message.
 */
#include <stdint.h>

#include "check.h"
#include "kiln_ed25519.h"

static uint8_t message[4096];

int main(void) {
  uint8_t head[100];
  while (fread(head, 1, sizeof(head), stdin) == sizeof(head)) {
    struct kiln_ed25519 check;
    size_t bytes = head[96] | (size_t)head[97] << 8 | (size_t)head[98] << 16 | (size_t)head[99] << 24;
    EXPECT(bytes <= sizeof(message) && fread(message, 1, bytes, stdin) == bytes);
    kiln_ed25519_begin(&check, head, head + 32);
    /* In two parts, cut at a place that the data choose. */
    size_t cut = bytes == 0 ? 0 : message[0] % bytes;
    kiln_ed25519_add(&check, message, cut);
    kiln_ed25519_add(&check, message + cut, bytes - cut);
    EXPECT(putchar('0' + kiln_ed25519_end(&check)) != EOF);
  }
  return 0;
}
