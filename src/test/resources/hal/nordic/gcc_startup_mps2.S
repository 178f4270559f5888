/* SPDX-License-Identifier: Apache-2.0
 *
 * Start-up code of the shape of Nordic's for GCC, made up for Kiln's tests: it has sections of its own for stack and heap, leaves .bss to _start,
 * and calls no constructors.
 */
    .syntax unified
    .arch armv7e-m

    .section .stack
    .align 3
    .equ    Stack_Size, 2048
    .globl __StackTop
    .globl __StackLimit
__StackLimit:
    .space Stack_Size
    .size __StackLimit, . - __StackLimit
__StackTop:
    .size __StackTop, . - __StackTop

    .section .heap
    .align 3
    .equ Heap_Size, 1024
    .globl __HeapBase
    .globl __HeapLimit
__HeapBase:
    .space Heap_Size
    .size __HeapBase, . - __HeapBase
__HeapLimit:
    .size __HeapLimit, . - __HeapLimit

    .section .isr_vector, "ax"
    .align 2
    .globl __isr_vector
__isr_vector:
    .long   __StackTop
    .long   Reset_Handler
    .long   NMI_Handler
    .long   HardFault_Handler
    .long   MemoryManagement_Handler
    .long   BusFault_Handler
    .long   UsageFault_Handler
    .long   0
    .long   0
    .long   0
    .long   0
    .long   SVC_Handler
    .long   DebugMon_Handler
    .long   0
    .long   PendSV_Handler
    .long   SysTick_Handler
    .long   UARTE0_UART0_IRQHandler
    .size __isr_vector, . - __isr_vector

    .text
    .thumb
    .thumb_func
    .align 1
    .globl Reset_Handler
    .type Reset_Handler, %function
Reset_Handler:
    ldr r1, =__etext
    ldr r2, =__data_start__
    ldr r3, =__bss_start__
    subs r3, r3, r2
    ble .L_copied
.L_copy:
    subs r3, r3, #4
    ldr r0, [r1,r3]
    str r0, [r2,r3]
    bgt .L_copy
.L_copied:

#ifdef __STARTUP_CLEAR_BSS
    ldr r1, =__bss_start__
    ldr r2, =__bss_end__
    movs r0, 0
    subs r2, r2, r1
    ble .L_cleared
.L_clear:
    subs r2, r2, #4
    str r0, [r1, r2]
    bgt .L_clear
.L_cleared:
#endif

    bl SystemInit
#ifndef __START
#define __START _start
#endif
    bl __START

    .pool
    .size   Reset_Handler,.-Reset_Handler

    .section ".text"
    .globl  Default_Handler
    .type   Default_Handler, %function
Default_Handler:
    b       .
    .size   Default_Handler, . - Default_Handler

    .macro  IRQ handler
    .weak   \handler
    .set    \handler, Default_Handler
    .endm

    IRQ  NMI_Handler
    IRQ  HardFault_Handler
    IRQ  MemoryManagement_Handler
    IRQ  BusFault_Handler
    IRQ  UsageFault_Handler
    IRQ  SVC_Handler
    IRQ  DebugMon_Handler
    IRQ  PendSV_Handler
    IRQ  SysTick_Handler
    IRQ  UARTE0_UART0_IRQHandler

  .end
