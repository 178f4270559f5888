/* SPDX-License-Identifier: Apache-2.0
 *
 * The pin by which a measuring device knows when an inference begins and ends: PA8. The console has switched the port's clock on.
 */
#ifndef KILN_PIN_H_
#define KILN_PIN_H_

#include "kiln_board.h"
#include "kiln_register.h"

static inline void kiln_pin_write(uint32_t level) {
  KILN_REGISTER(0x40020018u) = level != 0u ? 1u << 8 : 1u << 24;
}

static inline void kiln_pin_init(void) {
  kiln_pin_write(1u);
  kiln_change(0x40020000u, 3u << 16, 1u << 16);
}

#endif
