/* SPDX-License-Identifier: Apache-2.0
 *
 * Console on standard input and output, for images that run on this computer.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kiln_console.h"

void kiln_console_init(void) {}

int kiln_console_get(void) {
  fflush(stdout);
  return getchar();
}

/* What comes is kept by the pipe until it is waited for. */
int kiln_console_poll(void) {
  return -1;
}

void kiln_console_put(uint8_t byte) {
  putchar(byte);
}

void kiln_board_exit(int code) {
  fflush(stdout);
  exit(code);
}
