/* SPDX-License-Identifier: Apache-2.0
 *
 * The pin by which a measuring device knows when an inference begins and ends: EXP 0, bit 0 of Arm's AHB GPIO 0 (Cortex-M System Design
 * Kit TRM).
 */
#ifndef KILN_PIN_H_
#define KILN_PIN_H_

#include "kiln_board.h"
#include "kiln_register.h"

#define KILN_PIN_DATA (KILN_EXPANSION_BASE + 0x04u)
#define KILN_PIN_OUTPUT (KILN_EXPANSION_BASE + 0x10u)

static inline void kiln_pin_write(uint32_t level) {
  KILN_REGISTER(KILN_PIN_DATA) = level;
}

static inline void kiln_pin_init(void) {
  kiln_pin_write(1u);
  KILN_REGISTER(KILN_PIN_OUTPUT) = 1u;
}

#endif
