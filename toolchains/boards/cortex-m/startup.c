/* SPDX-License-Identifier: Apache-2.0
 *
 * Reset of a Cortex-M core: coprocessors on, variables initialised, console up, main called, and out with its result.
 */
#include <stdint.h>

#include "kiln_console.h"

extern uint32_t __stack_bottom[];
extern uint32_t __stack_top[];
extern uint32_t __data_start[];
extern uint32_t __data_end[];
extern const uint32_t __data_load[];
extern uint32_t __bss_start[];
extern uint32_t __bss_end[];

/* Functions to call before main: constructors of static objects in C++. A linker script without these symbols has none. */
extern void (*const __init_array_start[])(void) __attribute__((weak));
extern void (*const __init_array_end[])(void) __attribute__((weak));

int main(void);
void Reset_Handler(void);
void kiln_start(void);
void kiln_unexpected(void);

/* Handlers that an application may define; kiln_unexpected reports those that it does not. */
void NMI_Handler(void) __attribute__((weak, alias("kiln_unexpected")));
void HardFault_Handler(void) __attribute__((weak, alias("kiln_unexpected")));
void MemManage_Handler(void) __attribute__((weak, alias("kiln_unexpected")));
void BusFault_Handler(void) __attribute__((weak, alias("kiln_unexpected")));
void UsageFault_Handler(void) __attribute__((weak, alias("kiln_unexpected")));
void SecureFault_Handler(void) __attribute__((weak, alias("kiln_unexpected")));
void SVC_Handler(void) __attribute__((weak, alias("kiln_unexpected")));
void DebugMon_Handler(void) __attribute__((weak, alias("kiln_unexpected")));
void PendSV_Handler(void) __attribute__((weak, alias("kiln_unexpected")));
void SysTick_Handler(void) __attribute__((weak, alias("kiln_unexpected")));

/*
 * The stack may be what is broken. Where it has room left it stays, because the frame that the core pushed lies there; else it starts
 * afresh at its top, far from the frame.
 */
__attribute__((naked, used)) void kiln_unexpected(void) {
  __asm__ volatile(
      "mrs r0, msp\n\t"
      "mov r1, lr\n\t"
      "ldr r2, =__stack_bottom + 0x100\n\t"
      "ldr r3, =__stack_top\n\t"
      "cmp r0, r2\n\t"
      "blo 1f\n\t"
      "cmp r0, r3\n\t"
      "bls 2f\n"
      "1:\tmov sp, r3\n"
      "2:\tldr r2, =kiln_fault\n\t"
      "bx r2\n\t"
      ".ltorg\n\t");
}

struct vector_table {
  void* stack;
  void (*handlers[15])(void);
};

__attribute__((section(".vectors"), used)) static const struct vector_table kiln_vectors = {
    __stack_top,
    {Reset_Handler, NMI_Handler, HardFault_Handler, MemManage_Handler, BusFault_Handler, UsageFault_Handler,
     SecureFault_Handler, 0, 0, 0, SVC_Handler, DebugMon_Handler, 0, PendSV_Handler, SysTick_Handler},
};

/*
 * In assembly until the coprocessors are on: a compiler may use floating point registers in any C function of a core that has them.
 * CPACR at 0xE000ED88: full access to CP10 and CP11 (FPU and MVE).
 */
__attribute__((naked, noreturn)) void Reset_Handler(void) {
  __asm__ volatile(
      "ldr r0, =__stack_top\n\t"
      "mov sp, r0\n\t"
#if defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
      "ldr r0, =__stack_bottom\n\t"
      "msr msplim, r0\n\t"
#endif
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
      "ldr r0, =0xE000ED88\n\t"
      "ldr r1, [r0]\n\t"
      "orr r1, r1, #0x00F00000\n\t"
      "str r1, [r0]\n\t"
      "dsb\n\t"
      "isb\n\t"
#endif
      "bl kiln_start\n\t"
      "b .\n\t"
      ".ltorg\n\t");
}

/* Called by Reset_Handler only. */
__attribute__((used, noreturn)) void kiln_start(void) {
#ifdef KILN_PRECISE_WRITES
  *(volatile uint32_t*)0xe000e008u |= 2u; /* ACTLR.DISDEFWBUF of Cortex-M3 and -M4: writes are not buffered, and fault where they are */
#endif
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
