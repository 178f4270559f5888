/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KILN_CLOCK_H_
#define KILN_CLOCK_H_

/* Brings the core to its speed and the console's USART to KILN_USART_CLOCK. Called once, on the clock that the chip has after reset. */
void kiln_clock_init(void);

/* Invalidates and switches on both caches of a Cortex-M7. */
void kiln_cache_init(void);

#endif
