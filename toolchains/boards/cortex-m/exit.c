/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of an image: the host hears the code over the console, and the core sleeps until the next reset.
 */
#include "kiln_console.h"
#include "kiln_end.h"

__attribute__((noreturn)) void kiln_board_exit(int code) {
  kiln_end_report(code);
  for (;;) {
    __asm__ volatile("wfi");
  }
}
