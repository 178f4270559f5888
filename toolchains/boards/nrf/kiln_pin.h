/* SPDX-License-Identifier: Apache-2.0
 *
 * The pin by which a measuring device knows when an inference begins and ends: P0.03, A0 of an nRF52840 DK, the large pad 0 of a micro:bit.
 */
#ifndef KILN_PIN_H_
#define KILN_PIN_H_

#include "kiln_register.h"

#define KILN_PIN_BIT (1u << 3)

static inline void kiln_pin_write(uint32_t level) {
  KILN_REGISTER(level != 0u ? 0x50000508u : 0x5000050cu) = KILN_PIN_BIT;
}

static inline void kiln_pin_init(void) {
  kiln_pin_write(1u);
  KILN_REGISTER(0x50000518u) = KILN_PIN_BIT;
}

#endif
