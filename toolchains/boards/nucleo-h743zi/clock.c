/* SPDX-License-Identifier: Apache-2.0
 *
 * The clock that board.yaml names (RM0433, chapters PWR, RCC and FLASH); kiln_settings.h has the dividers. The USARTs stay on the internal
 * oscillator. Caches on.
 */
#include "kiln_clock.h"
#include "kiln_ram.h"
#include "kiln_register.h"
#include "kiln_settings.h"

#define FLASH_ACR 0x52002000u
#define PWR_CSR1 0x58024804u
#define PWR_CR3 0x5802480cu
#define PWR_D3CR 0x58024818u
#define RCC_CR 0x58024400u
#define RCC_CFGR 0x58024410u
#define RCC_D1CFGR 0x58024418u
#define RCC_D2CFGR 0x5802441cu
#define RCC_D3CFGR 0x58024420u
#define RCC_PLLCKSELR 0x58024428u
#define RCC_PLLCFGR 0x5802442cu
#define RCC_PLL1DIVR 0x58024430u
#define RCC_D2CCIP2R 0x58024454u

#define SUPPLY 7u           /* of PWR_CR3: update, regulator, bypass */
#define REGULATOR 2u
#define SUPPLY_READY (1u << 13)
#define PLL1_ON (1u << 24)
#define PLL1_READY (1u << 25)

#define APB KILN_APB_BITS(KILN_PERIPHERALS_1_DIVIDER)

extern const uint32_t __ramdata_load[];
extern uint32_t __ramdata_start[];
extern uint32_t __ramdata_end[];

void kiln_clock_init(void) {
  /* Which supply there is can be said once after power-on; until it is, speeds cannot change. */
  kiln_change(PWR_CR3, SUPPLY, REGULATOR);
  kiln_await(PWR_CSR1, SUPPLY_READY, SUPPLY_READY);
  kiln_change(PWR_D3CR, 3u << 14, 3u << 14); /* scale 1, for up to 400 MHz */
  kiln_await(PWR_D3CR, 1u << 13, 1u << 13);

  KILN_REGISTER(FLASH_ACR) = 2u << 4 | KILN_WAIT_STATES; /* time to program for the fastest bus */
  kiln_await(FLASH_ACR, 0xfu, KILN_WAIT_STATES);
  KILN_REGISTER(RCC_D1CFGR) = APB << 4 | (KILN_BUS_DIVIDER == 1u ? 0u : KILN_APB_BITS(KILN_BUS_DIVIDER) + 4u); /* APB3, AXI and AHB */
  KILN_REGISTER(RCC_D2CFGR) = APB << 8 | APB << 4;                                                            /* APB1 and APB2 */
  KILN_REGISTER(RCC_D3CFGR) = APB << 4;                                                                        /* APB4 */

  kiln_external_source(RCC_CR);
  kiln_change(RCC_PLLCKSELR, 0x3f3u, KILN_PLL_DIVIDER << 4 | KILN_IS_EXTERNAL << 1);
  kiln_change(RCC_PLLCFGR, 0x1000fu, 1u << 16 | 2u << 2); /* output P on, input of 4 to 8 MHz, wide range, no fraction */
  KILN_REGISTER(RCC_PLL1DIVR) = 1u << 24 | 1u << 16 | (KILN_PLL_OUTPUT_DIVIDER - 1u) << 9 | (KILN_PLL_FACTOR - 1u);
  KILN_REGISTER(RCC_CR) |= PLL1_ON;
  kiln_await(RCC_CR, PLL1_READY, PLL1_READY);
  kiln_change(RCC_CFGR, 7u, 3u); /* core from PLL 1 */
  kiln_await(RCC_CFGR, 7u << 3, 3u << 3);
  kiln_change(RCC_D2CCIP2R, 7u, 3u); /* USART2 to UART8 from the internal oscillator */
  kiln_ram_copy(__ramfunc_load, __ramfunc_start, __ramfunc_end);
  kiln_ram_copy(__ramdata_load, __ramdata_start, __ramdata_end);
  kiln_cache_init();
}
