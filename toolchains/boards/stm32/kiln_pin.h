/* SPDX-License-Identifier: Apache-2.0
 *
 * The pin by which a measuring device knows when an inference begins and ends. kiln_board.h says which:
 *
 *   KILN_PULSE_GPIO, KILN_PULSE_ENABLE_BIT   its port, and the bit of the port's clock in KILN_GPIO_ENABLE
 *   KILN_PULSE_PIN                           its number in the port
 */
#ifndef KILN_PIN_H_
#define KILN_PIN_H_

#include "kiln_board.h"
#include "kiln_register.h"

static inline void kiln_pin_write(uint32_t level) {
  KILN_REGISTER(KILN_PULSE_GPIO + 0x18u) = 1u << (KILN_PULSE_PIN + (level != 0u ? 0u : 16u));
}

static inline void kiln_pin_init(void) {
  KILN_REGISTER(KILN_GPIO_ENABLE) |= 1u << KILN_PULSE_ENABLE_BIT;
  (void)KILN_REGISTER(KILN_GPIO_ENABLE); /* clocks need some cycles to arrive */
  (void)KILN_REGISTER(KILN_GPIO_ENABLE);
  kiln_pin_write(1u);
  kiln_change(KILN_PULSE_GPIO, 3u << 2u * KILN_PULSE_PIN, 1u << 2u * KILN_PULSE_PIN);
}

#endif
