/* SPDX-License-Identifier: Apache-2.0
 *
 * The platform-level interrupt controller (RISC-V PLIC specification 1.0.0) as the first hart in machine mode sees it.
 */
#ifndef KILN_PLIC_H_
#define KILN_PLIC_H_

#include "kiln_board.h"
#include "kiln_register.h"
#include "kiln_riscv.h"

#ifndef KILN_PLIC
#define KILN_PLIC 0x0c000000u /* where SiFive's chips and QEMU's virtual machine have it */
#endif

#define KILN_PLIC_PRIORITY(source) KILN_REGISTER(KILN_PLIC + 4u * (source))
#define KILN_PLIC_ENABLE(source) KILN_REGISTER(KILN_PLIC + 0x2000u + 4u * ((source) / 32u))
#define KILN_PLIC_THRESHOLD KILN_REGISTER(KILN_PLIC + 0x200000u)
#define KILN_PLIC_CLAIM KILN_REGISTER(KILN_PLIC + 0x200004u)

/* Bits of mie: interrupts by another hart or by software, by the timer, and by the PLIC. */
#define KILN_MIE_SOFTWARE (1u << 3)
#define KILN_MIE_TIMER (1u << 7)
#define KILN_MIE_EXTERNAL (1u << 11)

/* Lets a source interrupt. Priorities begin at 1. What else it takes: KILN_MIE_EXTERNAL in mie, and kiln_interrupts_enable(). */
static inline void kiln_plic_enable(uint32_t source, uint32_t priority) {
  KILN_PLIC_PRIORITY(source) = priority;
  KILN_PLIC_ENABLE(source) |= 1u << source % 32u;
  KILN_PLIC_THRESHOLD = 0u;
}

static inline void kiln_plic_disable(uint32_t source) {
  KILN_PLIC_ENABLE(source) &= ~(1u << source % 32u);
}

#endif
