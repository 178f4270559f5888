/* SPDX-License-Identifier: Apache-2.0
 *
 * The clock that board.yaml names (RM0432, chapters PWR, RCC and FLASH), with the regulator's boost, which is needed beyond 80 MHz;
 * kiln_settings.h has the dividers. The buses run at half of it for a microsecond, and then, with LPUART1, at its speed. Pins PG2 to PG15
 * have a supply of their own, which must be declared valid.
 */
#include "kiln_clock.h"
#include "kiln_ram.h"
#include "kiln_register.h"
#include "kiln_settings.h"

#define FLASH_ACR 0x40022000u
#define PWR_CR2 0x40007004u
#define PWR_CR5 0x40007080u
#define RCC_CR 0x40021000u
#define RCC_CFGR 0x40021008u
#define RCC_PLLCFGR 0x4002100cu
#define RCC_APB1ENR1 0x40021058u

#define OSCILLATOR_ON (1u << 8)
#define OSCILLATOR_READY (1u << 10)
#define PLL_ON (1u << 24)
#define PLL_READY (1u << 25)
#define NO_BOOST (1u << 8)
#define BUSES (0xfu << 4)
#define BUSES_BY_2 (8u << 4)

void kiln_clock_init(void) {
  KILN_REGISTER(RCC_APB1ENR1) |= 1u << 28; /* power control */
  (void)KILN_REGISTER(RCC_APB1ENR1);
  kiln_change(PWR_CR5, NO_BOOST, 0u);
  KILN_REGISTER(FLASH_ACR) = 1u << 10 | 1u << 9 | 1u << 8 | KILN_WAIT_STATES; /* caches, prefetch */
  kiln_await(FLASH_ACR, 0xfu, KILN_WAIT_STATES);
#if KILN_IS_EXTERNAL
  kiln_external_source(RCC_CR);
#else
  KILN_REGISTER(RCC_CR) |= OSCILLATOR_ON;
  kiln_await(RCC_CR, OSCILLATOR_READY, OSCILLATOR_READY);
#endif
  /* R, which is on, N, M, source */
  KILN_REGISTER(RCC_PLLCFGR) = (KILN_PLL_OUTPUT_DIVIDER / 2u - 1u) << 25 | 1u << 24 | KILN_PLL_FACTOR << 8 | (KILN_PLL_DIVIDER - 1u) << 4 |
                               2u | KILN_IS_EXTERNAL;
  KILN_REGISTER(RCC_CR) |= PLL_ON;
  kiln_await(RCC_CR, PLL_READY, PLL_READY);
  kiln_change(RCC_CFGR, BUSES, BUSES_BY_2);
  kiln_change(RCC_CFGR, 3u, 3u);
  kiln_await(RCC_CFGR, 0xcu, 0xcu);
  for (volatile uint32_t turn = 0u; turn < 60u; turn++) { /* a microsecond: each takes a cycle of half the speed at least */
  }
  kiln_change(RCC_CFGR, BUSES, 0u);

  KILN_REGISTER(PWR_CR2) |= 1u << 9; /* the supply of port G is there */
  kiln_ram_copy(__ramfunc_load, __ramfunc_start, __ramfunc_end);
}
