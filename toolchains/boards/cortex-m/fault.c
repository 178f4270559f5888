/* SPDX-License-Identifier: Apache-2.0
 *
 * What happens on a fault: one line on the console says which and where, then the image leaves. Hosts that have the image add the names
 * of functions and source lines.
 */
#include <stdint.h>

#include "kiln_console.h"
#include "kiln_end.h"

extern uint32_t __stack_bottom[];
extern uint32_t __stack_top[];

void kiln_fault(const uint32_t* main_stack, uint32_t exc_return);

/* EXC_RETURN: the frame is on the process stack, which only a program of the user's own has. */
#define ON_PROCESS_STACK 4u

#define BUS_ADDRESS_VALID (1u << 15)
#define NOT_STACKED (1u << 4 | 1u << 12 | 1u << 20) /* MSTKERR, STKERR, STKOF: the core could not push the frame */

struct system_control {
  volatile uint32_t status; /* CFSR; at 0xe000ed28 */
  volatile uint32_t hard_fault;
  volatile uint32_t debug_fault;
  volatile uint32_t memory_address; /* MMFAR */
  volatile uint32_t bus_address;    /* BFAR */
};

#define CONTROL ((struct system_control*)0xe000ed28u)

/*
 * main_stack: the main stack pointer after the core pushed its frame: r0-r3, r12, lr, pc, xpsr
 * exc_return: what the core left in lr
 */
__attribute__((cold, used, noreturn)) void kiln_fault(const uint32_t* main_stack, uint32_t exc_return) {
  const uint32_t* frame = main_stack;
  uint32_t words[5];
  __asm__ volatile("mrs %0, ipsr" : "=r"(words[0]));
  int good = frame >= __stack_bottom && frame + 8 <= __stack_top;
  if ((exc_return & ON_PROCESS_STACK) != 0u) {
    __asm__ volatile("mrs %0, psp" : "=r"(frame));
    good = 1;
  }
#if __ARM_ARCH >= 7
  words[3] = CONTROL->status;
  words[4] = (words[3] & BUS_ADDRESS_VALID) != 0u ? CONTROL->bus_address : CONTROL->memory_address;
  good = good && (words[3] & NOT_STACKED) == 0u;
#endif
  const char* text = "\xff\r\nkiln: stack overflow\r\n";
  if (good) {
    words[1] = frame[6];
    words[2] = frame[5];
#if __ARM_ARCH >= 7
    text = "\xff\r\nkiln: exception 0x# at 0x#, called from 0x#, status 0x#, address 0x#\r\n";
#else
    text = "\xff\r\nkiln: exception 0x# at 0x#, called from 0x#\r\n";
#endif
  }
  kiln_end_text(text, words);
  kiln_board_exit(KILN_FAULT_EXIT);
}
