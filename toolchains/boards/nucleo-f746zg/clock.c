/* SPDX-License-Identifier: Apache-2.0
 *
 * 180 MHz from the internal 16 MHz oscillator (RM0385, chapters RCC and FLASH), the most without over-drive: 16 MHz / 8 * 180 / 2. The
 * regulator is at its highest scale after reset. The first peripheral bus, with USART3, runs at 45 MHz. Caches on.
 */
#include "kiln_clock.h"
#include "kiln_ram.h"
#include "kiln_register.h"

#define FLASH_ACR 0x40023c00u
#define RCC_CR 0x40023800u
#define RCC_PLLCFGR 0x40023804u
#define RCC_CFGR 0x40023808u

#define PLL_ON (1u << 24)
#define PLL_READY (1u << 25)

void kiln_clock_init(void) {
  KILN_REGISTER(FLASH_ACR) = 1u << 9 | 1u << 8 | 5u; /* accelerator, prefetch, five wait states for 150 to 180 MHz at 2.7 V and more */
  kiln_await(FLASH_ACR, 0xfu, 5u);
  /* Q = 8, P = 2 (0), N = 180, M = 8, from the internal oscillator */
  kiln_change(RCC_PLLCFGR, 0x0f437fffu, 8u << 24 | 180u << 6 | 8u);
  KILN_REGISTER(RCC_CR) |= PLL_ON;
  kiln_await(RCC_CR, PLL_READY, PLL_READY);
  kiln_change(RCC_CFGR, 0xfcf3u, 4u << 13 | 5u << 10 | 2u); /* buses by 2 and by 4, core from the PLL */
  kiln_await(RCC_CFGR, 0xcu, 8u);
  kiln_ram_copy(__ramfunc_load, __ramfunc_start, __ramfunc_end);
  kiln_cache_init();
}
