/* SPDX-License-Identifier: Apache-2.0
 *
 * Interrupts of @BOARD@ by the vendor's names. A firmware defines the handlers that it needs; the others are reported as faults.
 * This file is yours to use without conditions.
 */
void kiln_unexpected(void);
void kiln_interrupt(void);

__attribute__((naked, used)) void kiln_interrupt(void) {
  __asm__ volatile("ldr r0, =kiln_unexpected\n\tbx r0\n\t.ltorg");
}

@HANDLERS@
__attribute__((section(".vectors.interrupts"), used)) static void (*const kiln_interrupts[])(void) = {
@TABLE@};
