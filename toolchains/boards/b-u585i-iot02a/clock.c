/* SPDX-License-Identifier: Apache-2.0
 *
 * The clock that board.yaml names (RM0456, chapters PWR, RCC, FLASH and ICACHE); kiln_settings.h has the dividers. All buses at full speed.
 * The instruction cache serves both code and constants in flash. The chip as it is delivered has TrustZone off (option bit TZEN = 0).
 */
#include "kiln_clock.h"
#include "kiln_register.h"
#include "kiln_settings.h"

#define FLASH_ACR 0x40022000u
#define ICACHE_CR 0x40030400u
#define ICACHE_SR 0x40030404u
#define PWR_VOSR 0x4602080cu
#define RCC_CR 0x46020c00u
#define RCC_CFGR1 0x46020c1cu
#define RCC_PLL1CFGR 0x46020c28u
#define RCC_PLL1DIVR 0x46020c34u
#define RCC_AHB3ENR 0x46020c94u

#define OSCILLATOR_ON (1u << 8)
#define OSCILLATOR_READY (1u << 10)
#define PLL1_ON (1u << 24)
#define PLL1_READY (1u << 25)
#define BOOSTER_READY (1u << 14)
#define RANGE_READY (1u << 15)
#define RANGE_1 (3u << 16)
#define BOOSTER_ON (1u << 18)

void kiln_clock_init(void) {
  KILN_REGISTER(RCC_AHB3ENR) |= 1u << 2; /* power control */
  (void)KILN_REGISTER(RCC_AHB3ENR);
  kiln_change(PWR_VOSR, RANGE_1, RANGE_1);
  kiln_await(PWR_VOSR, RANGE_READY, RANGE_READY);
  KILN_REGISTER(FLASH_ACR) = 1u << 8 | KILN_WAIT_STATES; /* prefetch */
  kiln_await(FLASH_ACR, 0xfu, KILN_WAIT_STATES);

#if KILN_IS_EXTERNAL
  kiln_external_source(RCC_CR);
#else
  KILN_REGISTER(RCC_CR) |= OSCILLATOR_ON;
  kiln_await(RCC_CR, OSCILLATOR_READY, OSCILLATOR_READY);
#endif
  /* output R on, M, booster by 1, input of 4 to 8 MHz, source */
  KILN_REGISTER(RCC_PLL1CFGR) = 1u << 18 | (KILN_PLL_DIVIDER - 1u) << 8 | 2u | KILN_IS_EXTERNAL;
  KILN_REGISTER(RCC_PLL1DIVR) = (KILN_PLL_OUTPUT_DIVIDER - 1u) << 24 | 1u << 16 | 1u << 9 | (KILN_PLL_FACTOR - 1u);
  kiln_change(PWR_VOSR, BOOSTER_ON, BOOSTER_ON); /* runs from the PLL's input */
  kiln_await(PWR_VOSR, BOOSTER_READY, BOOSTER_READY);
  KILN_REGISTER(RCC_CR) |= PLL1_ON;
  kiln_await(RCC_CR, PLL1_READY, PLL1_READY);
  kiln_change(RCC_CFGR1, 3u, 3u);
  kiln_await(RCC_CFGR1, 0xcu, 0xcu);

  kiln_await(ICACHE_SR, 1u, 0u); /* it invalidates itself after reset */
  KILN_REGISTER(ICACHE_CR) |= 1u;
}
