/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KILN_CLOCK_H_
#define KILN_CLOCK_H_

#include "kiln_register.h"
#include "kiln_settings.h"

#if defined KILN_CLOCK_SOURCE_CRYSTAL || defined KILN_CLOCK_SOURCE_INPUT
#define KILN_IS_EXTERNAL 1u
#else
#define KILN_IS_EXTERNAL 0u
#endif

/* How RCC writes the divider of a bus of peripherals: 1, 2, 4, 8 or 16. */
#define KILN_APB_BITS(divider) \
  ((divider) == 1u ? 0u : (divider) == 2u ? 4u : (divider) == 4u ? 5u : (divider) == 8u ? 6u : 7u)

/* The output of a PLL for peripherals that need 48 MHz, where it can be had. */
#define KILN_PLL_48_MHZ_DIVIDER ((KILN_PLL_CLOCK + 47999999u) / 48000000u)

/* Switches on a crystal, or takes a clock from outside: the bits of RCC_CR are those of all families. */
static inline void kiln_external_source(uint32_t rcc_cr) {
#if KILN_IS_EXTERNAL
#ifdef KILN_CLOCK_SOURCE_INPUT
  KILN_REGISTER(rcc_cr) |= 1u << 18;
#endif
  KILN_REGISTER(rcc_cr) |= 1u << 16;
  kiln_await(rcc_cr, 1u << 17, 1u << 17);
#else
  (void)rcc_cr;
#endif
}

/* Brings the core to its speed and the console's USART to KILN_USART_CLOCK. Called once, on the clock that the chip has after reset. */
void kiln_clock_init(void);

/* Invalidates and switches on both caches of a Cortex-M7. */
void kiln_cache_init(void);

#endif
