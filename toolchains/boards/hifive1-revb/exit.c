/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of an image: there is nowhere to go, and the hart sleeps until the next reset.
 */
#include "kiln_console.h"

__attribute__((noreturn)) void kiln_board_exit(int code) {
  (void)code;
  for (;;) {
    __asm__ volatile("wfi");
  }
}
