/* SPDX-License-Identifier: Apache-2.0
 *
 * Changes of tasks on a Cortex-M4 with FPU. The core saves r0-r3, r12, lr, pc and xpsr (and s0-s15) of a task on its stack, these handlers the rest.
 */
  .syntax unified
  .thumb
  .text

  .globl SVC_Handler
  .type SVC_Handler, %function
SVC_Handler:
  bl scheduler_first
  ldmia r0!, {r4-r11, lr}
  msr psp, r0
  isb
  bx lr
  .size SVC_Handler, . - SVC_Handler

  .globl PendSV_Handler
  .type PendSV_Handler, %function
PendSV_Handler:
  mrs r0, psp
  tst lr, #0x10 /* 0 if the task has used the FPU */
  it eq
  vstmdbeq r0!, {s16-s31}
  stmdb r0!, {r4-r11, lr}
  bl scheduler_next
  ldmia r0!, {r4-r11, lr}
  tst lr, #0x10
  it eq
  vldmiaeq r0!, {s16-s31}
  msr psp, r0
  isb
  bx lr
  .size PendSV_Handler, . - PendSV_Handler
