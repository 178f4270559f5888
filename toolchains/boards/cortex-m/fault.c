/* SPDX-License-Identifier: Apache-2.0
 *
 * What happens on a fault: one line on the console says which and where, then the image leaves.
 */
#include <stdint.h>

#include "kiln_console.h"

#define KILN_FAULT_EXIT 70

extern uint32_t __stack_bottom[];
extern uint32_t __stack_top[];

void kiln_fault(const uint32_t* frame, uint32_t exception);

/* Armv8-M stops the stack at its limit and says so: bit STKOF of the configurable fault status. */
static int is_stack_limit_fault(void) {
#if defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
  return (*(volatile uint32_t*)0xe000ed28u & 1u << 20) != 0u;
#else
  return 0;
#endif
}

static void put_hex(uint32_t value) {
  kiln_console_text("0x");
  for (int shift = 28; shift >= 0; shift -= 4) {
    kiln_console_put((uint8_t) "0123456789abcdef"[(value >> shift) & 15u]);
  }
}

/*
 * frame: what the core pushed: r0-r3, r12, lr, pc, xpsr
 * exception: its number, 3 for a hard fault
 */
__attribute__((used, noreturn)) void kiln_fault(const uint32_t* frame, uint32_t exception) {
  kiln_console_text("\r\nkiln: ");
  if (frame < __stack_bottom || frame + 8 > __stack_top || is_stack_limit_fault()) {
    kiln_console_text("stack overflow (raise __stack_size)\r\n");
  } else {
    kiln_console_text("exception ");
    put_hex(exception);
    kiln_console_text(" at ");
    put_hex(frame[6]);
    kiln_console_text(", called from ");
    put_hex(frame[5]);
    kiln_console_text("\r\n");
  }
  kiln_board_exit(KILN_FAULT_EXIT);
}
