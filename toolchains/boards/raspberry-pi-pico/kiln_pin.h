/* SPDX-License-Identifier: Apache-2.0
 *
 * The pin by which a measuring device knows when an inference begins and ends: GPIO 2 (RP2040 Datasheet, 2.3.1 and 2.19).
 */
#ifndef KILN_PIN_H_
#define KILN_PIN_H_

#include "kiln_register.h"

#define KILN_PIN_BIT (1u << 2)

static inline void kiln_pin_write(uint32_t level) {
  KILN_REGISTER(level != 0u ? 0xd0000014u : 0xd0000018u) = KILN_PIN_BIT;
}

static inline void kiln_pin_init(void) {
  kiln_pin_write(1u);
  KILN_REGISTER(0xd0000024u) = KILN_PIN_BIT;
  KILN_REGISTER(0x40014014u) = 5u; /* GPIO2_CTRL: by software */
}

#endif
