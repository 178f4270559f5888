/* SPDX-License-Identifier: Apache-2.0
 *
 * Reset of a Cortex-M core: coprocessors on, variables initialised, console up, main called, and out with its result.
 */
#include <stdint.h>

#include "kiln_console.h"
#ifdef KILN_SET_VECTORS
#include "kiln_cortex_m.h"
#endif
#include "kiln_stack.h"

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

/* A macro's value as text. */
#define TEXT(value) TEXT_OF(value)
#define TEXT_OF(value) #value

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
 * The stack may be what is broken. Where it has room left it stays. Else it starts afresh a little above its bottom: what is above tells who
 * called whom. The frame that the core pushed may lie just where it starts: kiln_fault gets what it needs of that, if the whole frame lies in
 * the stack.
 */
__attribute__((naked, used)) void kiln_unexpected(void) {
  __asm__ volatile(
      "mrs r0, msp\n\t"
      "mov r1, lr\n\t"
      "ldr r4, =__stack_bottom\n\t"
      "ldr r5, =__stack_top\n\t"
      "cmp r0, r4\n\t"
      "blo 1f\n\t"
      "ldr r6, =__stack_top - 32\n\t"
      "cmp r0, r6\n\t"
      "bhi 1f\n\t"
      "ldr r2, [r0, #24]\n\t"
      "ldr r3, [r0, #20]\n"
      "1:\tldr r4, =__stack_bottom + 0x200\n\t"
      "cmp r0, r5\n\t"
      "bhi 2f\n\t"
      "cmp r0, r4\n\t"
      "bhs 4f\n"
      "2:\tcmp r4, r5\n\t"
      "bls 3f\n\t"
      "mov r4, r5\n"
      "3:\tmov sp, r4\n"
      "4:\tldr r4, =kiln_fault\n\t"
      "bx r4\n\t"
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
 * CPACR at 0xE000ED88: full access to CP10 and CP11 (FPU and MVE). MSPLIM exists from Armv8-M on; where it does not (non-secure state without
 * the main extension), writing it does nothing. The stack is painted before anything uses it.
 */
__attribute__((naked, noreturn)) void Reset_Handler(void) {
  __asm__ volatile(
      "ldr r0, =__stack_top\n\t"
      "mov sp, r0\n\t"
      "ldr r1, =__stack_bottom\n\t"
#if __ARM_ARCH >= 8
      "msr msplim, r1\n\t"
#endif
      "ldr r2, =" TEXT(KILN_STACK_PAINT) "\n"
      "1:\tstmia r1!, {r2}\n\t"
      "cmp r1, r0\n\t"
      "blo 1b\n\t"
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

uint32_t kiln_stack_used(void) {
  return kiln_stack_painted_over();
}

#if __ARM_ARCH < 8 && !defined(KILN_NO_STACK_GUARD)
#define MPU_TYPE (*(volatile uint32_t*)0xe000ed90u) /* bits 15:8: number of regions */
#define MPU_CTRL (*(volatile uint32_t*)0xe000ed94u) /* 4: privileged code keeps the default map; 1: on */
#define MPU_RBAR (*(volatile uint32_t*)0xe000ed9cu) /* address | 16: with the region's number in bits 3:0 */
#define MPU_RASR (*(volatile uint32_t*)0xe000eda0u)

/* Read-only for all, normal memory as in the default map of code: AP 6, C 1; bits 5:1: binary logarithm of the size - 1; 1: on. */
#define READ_ONLY (6u << 24 | 1u << 17 | 1u)

#define BELOW 0x1000000u /* __stack_guard_below, if it is known */

/*
 * MPU of Armv6-M and Armv7-M (their Architecture Reference Manuals, B3.5): the last region is the guard, an eighth of a region of 256 bytes,
 * the one before what lies below it. A core without an MPU has no regions, and reads 0.
 */
static void guard_stack(void) {
  const uint32_t guard = (uint32_t)(uintptr_t)__stack_guard;
  const uint32_t below = (uint32_t)(uintptr_t)__stack_guard_below;
  const uint32_t regions = MPU_TYPE >> 8 & 0xffu;
  if (guard == 0u || regions < 2u) {
    return;
  }
  MPU_RBAR = (guard & ~0xffu) | 16u | (regions - 1u);
  MPU_RASR = READ_ONLY | (0xffu ^ 1u << (guard >> 5 & 7u)) << 8 | 7u << 1;
  if (below == BELOW && (guard & (BELOW - 1u)) == 0u) {
    MPU_RBAR = (guard - BELOW) | 16u | (regions - 2u);
    MPU_RASR = READ_ONLY | 23u << 1;
  }
  MPU_CTRL = 5u;
  __asm__ volatile("dsb\n\tisb" ::: "memory");
}
#else
static void guard_stack(void) {}
#endif

/* Called by Reset_Handler only. */
__attribute__((used, noreturn)) void kiln_start(void) {
#if __ARM_ARCH >= 7 || defined(__ARM_ARCH_8M_BASE__)
  *(const struct vector_table* volatile*)0xe000ed08u = &kiln_vectors; /* VTOR: behind a boot loader it has that one's */
#endif
  for (uint32_t* word = kiln_stack_lowest(); word < __stack_bottom; ++word) {
    if (*word != KILN_STACK_PAINT) { /* A start without a reset finds it painted, and guarded. */
      *word = KILN_STACK_PAINT;
    }
  }
  guard_stack();
#ifdef KILN_SET_VECTORS
  kiln_vectors_set(&kiln_vectors);
#endif
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
