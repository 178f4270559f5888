/* SPDX-License-Identifier: Apache-2.0 */
#include "mps2_hal.h"

uint32_t SystemCoreClock = 25000000u;

/* Called before variables have their values: coprocessors on, and the vectors. */
void SystemInit(void) {
  *(volatile uint32_t*)0xe000ed88u |= 0xfu << 20;
  *(volatile uint32_t*)0xe000ed08u = 0u;
}
