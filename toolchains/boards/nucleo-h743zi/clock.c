/* SPDX-License-Identifier: Apache-2.0
 *
 * 400 MHz from the internal 64 MHz oscillator (RM0433, chapters PWR, RCC and FLASH): 64 MHz / 16 * 200 / 2; buses at 200 and 100 MHz. The
 * USARTs stay on the oscillator itself. Caches on.
 */
#include "kiln_clock.h"
#include "kiln_ram.h"
#include "kiln_register.h"

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

extern const uint32_t __ramdata_load[];
extern uint32_t __ramdata_start[];
extern uint32_t __ramdata_end[];

void kiln_clock_init(void) {
  /* Which supply there is can be said once after power-on; until it is, speeds cannot change. */
  kiln_change(PWR_CR3, SUPPLY, REGULATOR);
  kiln_await(PWR_CSR1, SUPPLY_READY, SUPPLY_READY);
  kiln_change(PWR_D3CR, 3u << 14, 3u << 14); /* scale 1, for up to 400 MHz */
  kiln_await(PWR_D3CR, 1u << 13, 1u << 13);

  KILN_REGISTER(FLASH_ACR) = 2u << 4 | 2u; /* two wait states for 185 to 210 MHz */
  kiln_await(FLASH_ACR, 0xfu, 2u);
  KILN_REGISTER(RCC_D1CFGR) = 4u << 4 | 8u;      /* core by 1, AXI and AHB by 2, APB3 by 2 again */
  KILN_REGISTER(RCC_D2CFGR) = 4u << 8 | 4u << 4; /* APB1 and APB2 by 2 */
  KILN_REGISTER(RCC_D3CFGR) = 4u << 4;           /* APB4 by 2 */

  kiln_change(RCC_PLLCKSELR, 0x3f3u, 16u << 4);          /* from the internal oscillator, by 16 */
  kiln_change(RCC_PLLCFGR, 0x1000fu, 1u << 16 | 2u << 2); /* output P on, input of 4 to 8 MHz, wide range, no fraction */
  KILN_REGISTER(RCC_PLL1DIVR) = 1u << 24 | 1u << 16 | 1u << 9 | 199u;
  KILN_REGISTER(RCC_CR) |= PLL1_ON;
  kiln_await(RCC_CR, PLL1_READY, PLL1_READY);
  kiln_change(RCC_CFGR, 7u, 3u); /* core from PLL 1 */
  kiln_await(RCC_CFGR, 7u << 3, 3u << 3);
  kiln_change(RCC_D2CCIP2R, 7u, 3u); /* USART2 to UART8 from the internal oscillator */
  kiln_ram_copy(__ramfunc_load, __ramfunc_start, __ramfunc_end);
  kiln_ram_copy(__ramdata_load, __ramdata_start, __ramdata_end);
  kiln_cache_init();
}
