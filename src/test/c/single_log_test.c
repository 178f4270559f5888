/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints a digest of the logarithms in integers of every sixteenth float from 1 to 65536.
 */
#include <inttypes.h>
#include <stdio.h>

#include "kiln_single_log.h"

int main(void) {
  uint32_t digest = 0u;
  for (uint32_t bits = 0x3f800000u; bits <= 0x47800000u; bits += 16u) {
    digest = digest * 31u + kiln_single_log(bits);
  }
  printf("%" PRIu32, digest);
  return 0;
}
