/* SPDX-License-Identifier: Apache-2.0
 *
 * Interrupts of @BOARD@ by the vendor's names. A firmware defines the handlers that it needs; the others are reported as faults.
 * This file is yours to use without conditions.
 */
#include "kiln_plic.h"

void kiln_trap(void);
void kiln_interrupt(void);
void kiln_interrupt_taken(void);
void kiln_no_handler(void);

/* Software and timer interrupts of the hart, by the names of SiFive's freedom-metal. */
void metal_riscv_cpu_intc_msip_handler(void) __attribute__((weak, alias("kiln_no_handler")));
void metal_riscv_cpu_intc_mtip_handler(void) __attribute__((weak, alias("kiln_no_handler")));

@HANDLERS@
static void (*const kiln_interrupts[])(void) = {
@TABLE@};

/* Reported like an exception. */
__attribute__((used)) void kiln_no_handler(void) {
  kiln_trap();
}

/* Interrupts have the sign bit of mcause. Exceptions go on before the stack is touched, because it may be what is broken. */
__attribute__((naked, aligned(4), used)) void kiln_interrupt(void) {
  __asm__ volatile(
      "csrw mscratch, t0\n\t"
      "csrr t0, mcause\n\t"
      "bltz t0, 1f\n\t"
      "csrr t0, mscratch\n\t"
      "j kiln_trap\n"
      "1:\tcsrr t0, mscratch\n\t"
      "j kiln_interrupt_taken\n\t");
}

/* Handlers are plain functions: what they may change is saved here. */
__attribute__((interrupt("machine"), used)) void kiln_interrupt_taken(void) {
  uint32_t cause;
  __asm__ volatile("csrr %0, mcause" : "=r"(cause));
  cause &= 0x7fffffffu;
  if (cause == 3u) {
    metal_riscv_cpu_intc_msip_handler();
  } else if (cause == 7u) {
    metal_riscv_cpu_intc_mtip_handler();
  } else if (cause == 11u) {
    uint32_t source = KILN_PLIC_CLAIM;
    if (source >= sizeof kiln_interrupts / sizeof kiln_interrupts[0]) {
      kiln_no_handler();
    } else if (kiln_interrupts[source] != 0) {
      kiln_interrupts[source]();
    }
    KILN_PLIC_CLAIM = source;
  } else {
    kiln_no_handler();
  }
}
