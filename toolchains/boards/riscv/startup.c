/* SPDX-License-Identifier: Apache-2.0
 *
 * Start of a RISC-V hart in machine mode: code write-protected, variables initialised, console up, main called, and out with its result.
 * The hart may come from a boot loader, so that nothing but the program counter is relied on.
 */
#include <stdint.h>

#include "kiln_board.h"
#include "kiln_console.h"
#include "kiln_end.h"
#include "kiln_stack.h"

extern uint32_t __data_start[];
extern uint32_t __data_end[];
extern const uint32_t __data_load[];
extern uint32_t __bss_start[];
extern uint32_t __bss_end[];

/* Functions to call before main: constructors of static objects in C++; sections.ld has them. */
extern void (*const __init_array_start[])(void);
extern void (*const __init_array_end[])(void);

int main(void);
void _start(void);
void kiln_start(void);
void kiln_trap(void);
void kiln_interrupt(void);
void kiln_fault(uint32_t cause, uint32_t pc, uint32_t address, uint32_t caller, const uint32_t* stack);

/* A macro's value as text. */
#define TEXT(value) TEXT_OF(value)
#define TEXT_OF(value) #value

/*
 * The stack is painted before anything uses it. KILN_PROTECT_CODE: physical memory protection, entry 0: everything below CODE, where devices
 * lie, with all rights; entry 1: CODE, read and execute. 0x0f = top of range | execute | write | read; 0x8d = lock | top of range | execute |
 * read; what is locked binds machine mode too.
 */
__attribute__((naked, noreturn, section(".vectors"), used)) void _start(void) {
  __asm__ volatile(
      "csrw mie, zero\n\t"
      "la sp, __stack_top\n\t"
      "la t0, __stack_bottom\n\t"
      "li t1, " TEXT(KILN_STACK_PAINT) "\n"
      "1:\tsw t1, 0(t0)\n\t"
      "addi t0, t0, 4\n\t"
      "bltu t0, sp, 1b\n\t"
      "la t0, kiln_interrupt\n\t"
      "csrw mtvec, t0\n\t"
#ifdef KILN_PROTECT_CODE
      "la t0, _start\n\t"
      "srli t0, t0, 2\n\t"
      "csrw pmpaddr0, t0\n\t"
      "la t0, __code_end\n\t"
      "srli t0, t0, 2\n\t"
      "csrw pmpaddr1, t0\n\t"
      "li t0, 0x8d0f\n\t"
      "csrw pmpcfg0, t0\n\t"
#endif
      "call kiln_start\n\t"
      "1: j 1b\n\t");
}

/* The stack may be what is broken: start it afresh. What the registers say is handed over first. */
__attribute__((naked, aligned(4), used)) void kiln_trap(void) {
  __asm__ volatile(
      "mv a4, sp\n\t"
      "mv a3, ra\n\t"
      "la sp, __stack_top\n\t"
      "csrr a0, mcause\n\t"
      "csrr a1, mepc\n\t"
      "csrr a2, mtval\n\t"
      "call kiln_fault\n\t");
}

__attribute__((cold, used, noreturn)) void kiln_fault(
    uint32_t cause, uint32_t pc, uint32_t address, uint32_t caller, const uint32_t* stack) {
  uint32_t words[] = {cause, pc, caller, address};
  if (stack < __stack_bottom) {
    uint32_t used = (uint32_t)((uintptr_t)__stack_top - (uintptr_t)stack);
    kiln_end_text("\xff\r\nkiln: stack overflow, 0x# bytes used\r\n", &used);
  }
  kiln_end_text("\xff\r\nkiln: exception 0x# at 0x#, called from 0x#, address 0x#\r\n", words);
  kiln_board_exit(KILN_FAULT_EXIT);
}

/* A board with a table of interrupts has another one, which comes here for exceptions. */
void kiln_interrupt(void) __attribute__((weak, alias("kiln_trap")));

uint32_t kiln_stack_used(void) {
  return kiln_stack_painted_over();
}

/*
 * Physical memory protection, entries 2 and 3: the guard and what lies below it, read only and locked. 0x89 = lock | top of range | read;
 * entries 0 and 1 stay, and what a boot loader left in the others goes. A hart without such entries traps to the label behind.
 */
static void guard_stack(void) {
#ifndef KILN_NO_STACK_GUARD
  const uint32_t below = (uint32_t)((uintptr_t)kiln_stack_lowest() - (uintptr_t)__stack_guard_below);
  const uint32_t bottom = (uint32_t)(uintptr_t)__stack_bottom;
  __asm__ volatile(
      "la t0, 1f\n\t"
      "csrrw t0, mtvec, t0\n\t"
      "csrc pmpcfg0, %3\n\t"
      "csrw pmpaddr2, %0\n\t"
      "csrw pmpaddr3, %1\n\t"
      "csrs pmpcfg0, %2\n\t"
      ".balign 4\n"
      "1:\tcsrw mtvec, t0\n\t"
      :
      : "r"(below >> 2), "r"(bottom >> 2), "r"(0x89000000u), "r"(0xffff0000u)
      : "t0", "memory");
#endif
}

/* Called by _start only. */
__attribute__((used, noreturn)) void kiln_start(void) {
  for (uint32_t* word = kiln_stack_lowest(); word < __stack_bottom; ++word) {
    if (*word != KILN_STACK_PAINT) { /* A start without a reset finds it painted, and guarded. */
      *word = KILN_STACK_PAINT;
    }
  }
  guard_stack();
  const uint32_t* from = __data_load;
  for (uint32_t* to = __data_start; to < __data_end; ++to) {
    *to = *from++;
  }
  for (uint32_t* to = __bss_start; to < __bss_end; ++to) {
    *to = 0;
  }
  kiln_console_init();
  for (void (*const* construct)(void) = __init_array_start; construct < __init_array_end; ++construct) {
    (*construct)();
  }
  kiln_board_exit(main());
}
