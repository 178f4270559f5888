/* SPDX-License-Identifier: Apache-2.0
 *
 * The first LED of an MPS2 board.
 */
#include "led.h"

#include <stdint.h>

#define LEDS (*(volatile uint32_t*)0x40028000u)

void led_set(int is_on) {
  LEDS = is_on != 0 ? 1u : 0u;
}

int led_is_on(void) {
  return (LEDS & 1u) != 0u;
}
