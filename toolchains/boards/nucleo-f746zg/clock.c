/* SPDX-License-Identifier: Apache-2.0
 *
 * The clock that board.yaml names (RM0385, chapters PWR, RCC and FLASH); kiln_settings.h has the dividers. The regulator is at its highest
 * scale after reset. Caches on.
 */
#include "kiln_clock.h"
#include "kiln_ram.h"
#include "kiln_register.h"
#include "kiln_settings.h"

#define FLASH_ACR 0x40023c00u
#define RCC_CR 0x40023800u
#define RCC_PLLCFGR 0x40023804u
#define RCC_CFGR 0x40023808u

#define RCC_APB1ENR 0x40023840u
#define PWR_CR1 0x40007000u
#define PWR_CSR1 0x40007004u

#define PLL_ON (1u << 24)
#define PLL_READY (1u << 25)

#define DIVIDERS (KILN_APB_BITS(KILN_PERIPHERALS_2_DIVIDER) << 13 | KILN_APB_BITS(KILN_PERIPHERALS_1_DIVIDER) << 10)

void kiln_clock_init(void) {
  KILN_REGISTER(FLASH_ACR) = 1u << 9 | 1u << 8 | KILN_WAIT_STATES; /* accelerator, prefetch */
  kiln_await(FLASH_ACR, 0xfu, KILN_WAIT_STATES);
  kiln_external_source(RCC_CR);
  /* Q for at most 48 MHz, P, N, M, source */
  kiln_change(RCC_PLLCFGR, 0x0f437fffu,
              KILN_PLL_48_MHZ_DIVIDER << 24 | KILN_IS_EXTERNAL << 22 | (KILN_PLL_OUTPUT_DIVIDER / 2u - 1u) << 16 | KILN_PLL_FACTOR << 6 |
                  KILN_PLL_DIVIDER);
  KILN_REGISTER(RCC_CR) |= PLL_ON;
  kiln_await(RCC_CR, PLL_READY, PLL_READY);
#ifdef KILN_OVERDRIVE
  KILN_REGISTER(RCC_APB1ENR) |= 1u << 28; /* power control */
  (void)KILN_REGISTER(RCC_APB1ENR);
  KILN_REGISTER(PWR_CR1) |= 1u << 16;
  kiln_await(PWR_CSR1, 1u << 16, 1u << 16);
  KILN_REGISTER(PWR_CR1) |= 1u << 17; /* switched to it */
  kiln_await(PWR_CSR1, 1u << 17, 1u << 17);
#endif
  kiln_change(RCC_CFGR, 0xfcf3u, DIVIDERS | 2u); /* buses, core from the PLL */
  kiln_await(RCC_CFGR, 0xcu, 8u);
  kiln_ram_copy(__ramfunc_load, __ramfunc_start, __ramfunc_end);
  kiln_cache_init();
}
