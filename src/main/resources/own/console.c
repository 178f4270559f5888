/* SPDX-License-Identifier: Apache-2.0
 *
 * No console: what is sent is lost, and nothing ever comes.
 */
#include "kiln_console.h"

void kiln_console_init(void) {}

int kiln_console_get(void) {
  return -1;
}

void kiln_console_put(uint8_t byte) {
  (void)byte;
}
