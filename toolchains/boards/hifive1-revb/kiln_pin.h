/* SPDX-License-Identifier: Apache-2.0
 *
 * The pin by which a measuring device knows when an inference begins and ends: GPIO 23, D7 on the board (FE310-G002 Manual, chapter 17).
 */
#ifndef KILN_PIN_H_
#define KILN_PIN_H_

#include "kiln_board.h"
#include "kiln_register.h"

#define KILN_PIN_BIT (1u << 23)

static inline void kiln_pin_write(uint32_t level) {
  kiln_change(0x1001200cu, KILN_PIN_BIT, level != 0u ? KILN_PIN_BIT : 0u);
}

static inline void kiln_pin_init(void) {
  kiln_pin_write(1u);
  kiln_change(0x10012008u, KILN_PIN_BIT, KILN_PIN_BIT);
}

#endif
