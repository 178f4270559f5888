/* SPDX-License-Identifier: Apache-2.0
 *
 * What happens on a fault: a line on the console says which and where, one before it if the stack overflowed (with 0 bytes if it was a
 * thread's), then the image leaves. Hosts that have the image add the names of functions and source lines.
 */
#include <stdint.h>

#include "kiln_console.h"
#include "kiln_end.h"
#include "kiln_stack.h"

void kiln_fault(const uint32_t* main_stack, uint32_t exc_return, uint32_t pc, uint32_t caller);

/* EXC_RETURN: the frame is on the process stack, which only a program of the user's own has; it has no floating-point registers. */
#define ON_PROCESS_STACK 4u
#define WITHOUT_FLOATS 16u

#define FRAME_WORDS 8
#define FLOAT_WORDS 18

#define MEMORY_ADDRESS_VALID (1u << 7)
#define BUS_ADDRESS_VALID (1u << 15)
#define NOT_STACKED (1u << 4 | 1u << 12) /* MSTKERR, STKERR: the core could not push the frame */
#define LIMIT_PASSED (1u << 20)          /* STKOF */

/* Return addresses on an overflowed stack that are sent to the host. */
#define MOST_RETURNS 128

/* What kiln_unexpected takes of the stack's bottom, if less is left. */
#define KEPT_WORDS 128

struct system_control {
  volatile uint32_t status; /* CFSR; at 0xe000ed28 */
  volatile uint32_t hard_fault;
  volatile uint32_t debug_fault;
  volatile uint32_t memory_address; /* MMFAR */
  volatile uint32_t bus_address;    /* BFAR */
};

#define CONTROL ((struct system_control*)0xe000ed28u)

/* Words that may be return addresses, from the top down: the host finds out who called whom, where the core could not say it. */
__attribute__((cold)) static void send_returns(const uint32_t* lowest) {
  int left = MOST_RETURNS;
  for (const uint32_t* word = __stack_top; word-- > lowest && left != 0;) {
    if ((*word & 1u) != 0u && (*word ^ (uint32_t)(uintptr_t)&kiln_fault) >> 24 == 0u) {
      kiln_end_text("kiln: on the stack 0x#\r\n", word);
      --left;
    }
  }
}

/*
 * main_stack: the main stack pointer after the core pushed its frame: r0-r3, r12, lr, pc, xpsr
 * exc_return: what the core left in lr
 * pc, caller: of that frame, if it lies in the stack; it may be overwritten by now
 */
__attribute__((cold, used, noreturn)) void kiln_fault(
    const uint32_t* main_stack, uint32_t exc_return, uint32_t pc, uint32_t caller) {
  const int of_thread = (exc_return & ON_PROCESS_STACK) != 0u;
  const uint32_t* frame = main_stack;
  uint32_t words[5] = {0, pc, caller};
  __asm__ volatile("mrs %0, ipsr" : "=r"(words[0]));
  int good = frame >= __stack_bottom && frame + FRAME_WORDS <= __stack_top;
  int overflow = frame < __stack_bottom;
  if (of_thread) {
    __asm__ volatile("mrs %0, psp" : "=r"(frame));
    good = 1;
    overflow = 0;
  }
#if __ARM_ARCH >= 8
  /* Where the core could not push the frame, the stack pointer is the limit. Without the main extension no status says so. */
  const uint32_t* limit = __stack_bottom;
  if (of_thread) {
    __asm__ volatile("mrs %0, psplim" : "=r"(limit));
  }
#ifdef __ARM_ARCH_8M_BASE__
  const int limit_passed = frame == limit;
#else
  const int limit_passed = (CONTROL->status & LIMIT_PASSED) != 0u;
#endif
  overflow = overflow || limit_passed;
  good = good && !(limit_passed && frame == limit);
#endif
#if __ARM_ARCH >= 7
  words[3] = CONTROL->status;
  words[4] = (words[3] & BUS_ADDRESS_VALID) != 0u ? CONTROL->bus_address : CONTROL->memory_address;
  if ((words[3] & NOT_STACKED) != 0u) {
    good = 0;
    overflow = overflow || of_thread;
  }
  overflow = overflow ||
             (!of_thread && main_stack < __stack_bottom + KEPT_WORDS && (words[3] & MEMORY_ADDRESS_VALID) != 0u &&
              words[4] < (uint32_t)(uintptr_t)__stack_bottom &&
              words[4] >= (uint32_t)((uintptr_t)kiln_stack_lowest() - (uintptr_t)__stack_guard_below));
#endif
  if (overflow) {
    const uint32_t* before = main_stack + FRAME_WORDS + ((exc_return & WITHOUT_FLOATS) != 0u ? 0 : FLOAT_WORDS);
    uint32_t used = of_thread ? 0u : (uint32_t)((uintptr_t)__stack_top - (uintptr_t)before);
    kiln_end_text("\xff\r\nkiln: stack overflow, 0x# bytes used\r\n", &used);
  }
  if (good && of_thread) {
    words[1] = frame[6];
    words[2] = frame[5];
  } else if (!good) {
    words[1] = 0;
    words[2] = 0;
  }
  if (good || !overflow) {
    kiln_end_text(
        "\xff\r\nkiln: exception 0x# at 0x#, called from 0x#"
#if __ARM_ARCH >= 7
        ", status 0x#, address 0x#"
#endif
        "\r\n",
        words);
  } else if (!of_thread) {
    send_returns(main_stack > __stack_bottom + KEPT_WORDS ? main_stack : __stack_bottom + KEPT_WORDS);
  }
  kiln_board_exit(KILN_FAULT_EXIT);
}
