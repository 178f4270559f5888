/* SPDX-License-Identifier: Apache-2.0
 *
 * 80 MHz from the internal 16 MHz oscillator (RM0432, chapters PWR, RCC and FLASH), the most without range 1 boost: 16 MHz / 4 * 40 / 2.
 * All buses, and with them LPUART1, run at 80 MHz. Pins PG2 to PG15 have a supply of their own, which must be declared valid.
 */
#include "kiln_clock.h"
#include "kiln_ram.h"
#include "kiln_register.h"

#define FLASH_ACR 0x40022000u
#define PWR_CR2 0x40007004u
#define RCC_CR 0x40021000u
#define RCC_CFGR 0x40021008u
#define RCC_PLLCFGR 0x4002100cu
#define RCC_APB1ENR1 0x40021058u

#define OSCILLATOR_ON (1u << 8)
#define OSCILLATOR_READY (1u << 10)
#define PLL_ON (1u << 24)
#define PLL_READY (1u << 25)

void kiln_clock_init(void) {
  KILN_REGISTER(FLASH_ACR) = 1u << 10 | 1u << 9 | 1u << 8 | 3u; /* caches, prefetch, three wait states for 60 to 80 MHz */
  kiln_await(FLASH_ACR, 0xfu, 3u);
  KILN_REGISTER(RCC_CR) |= OSCILLATOR_ON;
  kiln_await(RCC_CR, OSCILLATOR_READY, OSCILLATOR_READY);
  KILN_REGISTER(RCC_PLLCFGR) = 1u << 24 | 40u << 8 | 3u << 4 | 2u; /* R = 2 (0) and on, N = 40, M = 4, from the oscillator */
  KILN_REGISTER(RCC_CR) |= PLL_ON;
  kiln_await(RCC_CR, PLL_READY, PLL_READY);
  kiln_change(RCC_CFGR, 3u, 3u);
  kiln_await(RCC_CFGR, 0xcu, 0xcu);

  KILN_REGISTER(RCC_APB1ENR1) |= 1u << 28; /* power control */
  (void)KILN_REGISTER(RCC_APB1ENR1);
  KILN_REGISTER(PWR_CR2) |= 1u << 9; /* the supply of port G is there */
  kiln_ram_copy(__ramfunc_load, __ramfunc_start, __ramfunc_end);
}
