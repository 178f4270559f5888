/* SPDX-License-Identifier: Apache-2.0
 *
 * The clock that board.yaml names (RM0090, RM0383 and RM0390, chapters PWR, RCC and FLASH); kiln_settings.h has the dividers. All but the
 * F411 and its relatives have the regulator at its highest scale after reset.
 */
#include "kiln_clock.h"
#include "kiln_register.h"
#include "kiln_settings.h"

#define FLASH_ACR 0x40023c00u
#define RCC_CR 0x40023800u
#define RCC_PLLCFGR 0x40023804u
#define RCC_CFGR 0x40023808u

#define RCC_APB1ENR 0x40023840u
#define PWR_CR 0x40007000u
#define PWR_CSR 0x40007004u

#define PLL_ON (1u << 24)
#define PLL_READY (1u << 25)

#define DIVIDERS (KILN_APB_BITS(KILN_PERIPHERALS_2_DIVIDER) << 13 | KILN_APB_BITS(KILN_PERIPHERALS_1_DIVIDER) << 10)

void kiln_clock_init(void) {
  const uint32_t flash = 1u << 10 | 1u << 9 | 1u << 8 | KILN_WAIT_STATES; /* caches and prefetch */
  KILN_REGISTER(FLASH_ACR) = flash;
  kiln_await(FLASH_ACR, 0xfu, KILN_WAIT_STATES);
#if defined KILN_VOLTAGE_SCALE || defined KILN_OVERDRIVE
  KILN_REGISTER(RCC_APB1ENR) |= 1u << 28; /* power control */
  (void)KILN_REGISTER(RCC_APB1ENR);
#endif
#ifdef KILN_VOLTAGE_SCALE
  kiln_change(PWR_CR, 3u << 14, 3u << 14); /* scale 1, from when the PLL is on */
#endif
  kiln_external_source(RCC_CR);
  /* Q for at most 48 MHz, P, N, M, source; R, where there is one, keeps its value */
  kiln_change(RCC_PLLCFGR, 0x0f437fffu,
              KILN_PLL_48_MHZ_DIVIDER << 24 | KILN_IS_EXTERNAL << 22 | (KILN_PLL_OUTPUT_DIVIDER / 2u - 1u) << 16 | KILN_PLL_FACTOR << 6 |
                  KILN_PLL_DIVIDER);
  KILN_REGISTER(RCC_CR) |= PLL_ON;
  kiln_await(RCC_CR, PLL_READY, PLL_READY);
#ifdef KILN_OVERDRIVE
  KILN_REGISTER(PWR_CR) |= 1u << 16;
  kiln_await(PWR_CSR, 1u << 16, 1u << 16);
  KILN_REGISTER(PWR_CR) |= 1u << 17; /* switched to it */
  kiln_await(PWR_CSR, 1u << 17, 1u << 17);
#endif
  kiln_change(RCC_CFGR, 0xfcf3u, DIVIDERS | 2u); /* buses, core from the PLL */
  kiln_await(RCC_CFGR, 0xcu, 8u);
}
