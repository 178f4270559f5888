/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of an image, by Arm semihosting: an emulator ends with the code, a debugger stops. On hardware without either, the breakpoint
 * faults once; the core then sleeps.
 */
#include <stdint.h>

#include "kiln_console.h"

#define SYS_EXIT_EXTENDED 0x20u
#define ADP_STOPPED_APPLICATION_EXIT 0x20026u

__attribute__((noreturn)) void kiln_board_exit(int code) {
  static int leaving;
  uint32_t block[2] = {ADP_STOPPED_APPLICATION_EXIT, (uint32_t)code};
  if (!leaving) {
    leaving = 1;
    register uint32_t operation __asm__("r0") = SYS_EXIT_EXTENDED;
    register uint32_t* argument __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" : "+r"(operation) : "r"(argument) : "memory");
  }
  for (;;) {
    __asm__ volatile("wfi");
  }
}
