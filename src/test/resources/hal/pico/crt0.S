/* SPDX-License-Identifier: Apache-2.0
 *
 * Start-up code of the shape of the Pico's SDK, made up for Kiln's tests: its names of vectors and handlers, and its table of what to copy.
 */
  .syntax unified
  .cpu cortex-m0plus
  .thumb

  .section .vectors, "ax"
  .align 2
  .global __vectors
__vectors:
  .word __StackTop
  .word _reset_handler
  .word isr_nmi
  .word isr_hardfault
  .rept 7
  .word isr_invalid
  .endr
  .word isr_svcall
  .word isr_invalid
  .word isr_invalid
  .word isr_pendsv
  .word isr_systick
  .word isr_irq0

  .macro decl_isr_bkpt name
  .weak \name
  .type \name, %function
  .thumb_func
\name:
  bkpt #0
  .endm

  decl_isr_bkpt isr_invalid
  decl_isr_bkpt isr_nmi
  decl_isr_bkpt isr_hardfault
  decl_isr_bkpt isr_svcall
  decl_isr_bkpt isr_pendsv
  decl_isr_bkpt isr_systick
  decl_isr_bkpt isr_irq0

  .section .reset, "ax"
  .global _reset_handler
  .type _reset_handler, %function
  .thumb_func
_reset_handler:
  adr r4, data_cpy_table
1:
  ldmia r4!, {r1-r3}
  cmp r1, #0
  beq 2f
  bl data_cpy
  b 1b
2:
  ldr r1, =__bss_start__
  ldr r2, =__bss_end__
  movs r0, #0
  b bss_fill_test
bss_fill_loop:
  stm r1!, {r0}
bss_fill_test:
  cmp r1, r2
  bne bss_fill_loop
  ldr r1, =runtime_init
  blx r1
  ldr r1, =main
  blx r1
  ldr r1, =exit
  blx r1

data_cpy_loop:
  ldm r1!, {r0}
  stm r2!, {r0}
data_cpy:
  cmp r2, r3
  blo data_cpy_loop
  bx lr

  .align 2
data_cpy_table:
  .word __etext
  .word __data_start__
  .word __data_end__
  .word 0
