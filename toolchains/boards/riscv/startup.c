/* SPDX-License-Identifier: Apache-2.0
 *
 * Start of a RISC-V hart in machine mode: code write-protected, variables initialised, console up, main called, and out with its result.
 * The hart may come from a boot loader, so that nothing but the program counter is relied on.
 */
#include <stdint.h>

#include "kiln_board.h"
#include "kiln_console.h"
#include "kiln_end.h"

extern uint32_t __stack_bottom[];
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

/*
 * KILN_PROTECT_CODE: physical memory protection, entry 0: everything below CODE, where devices lie, with all rights; entry 1: CODE, read
 * and execute. 0x0f = top of range | execute | write | read; 0x8d = lock | top of range |
 * execute | read; what is locked binds machine mode too.
 */
__attribute__((naked, noreturn, section(".vectors"), used)) void _start(void) {
  __asm__ volatile(
      "csrw mie, zero\n\t"
      "la sp, __stack_top\n\t"
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
  kiln_end_text(
      stack < __stack_bottom ? "\xff\r\nkiln: stack overflow\r\n"
                             : "\xff\r\nkiln: exception 0x# at 0x#, called from 0x#, address 0x#\r\n",
      words);
  kiln_board_exit(KILN_FAULT_EXIT);
}

/* A board with a table of interrupts has another one, which comes here for exceptions. */
void kiln_interrupt(void) __attribute__((weak, alias("kiln_trap")));

/* Called by _start only. */
__attribute__((used, noreturn)) void kiln_start(void) {
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
