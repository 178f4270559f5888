/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KILN_BOARD_H_
#define KILN_BOARD_H_

/* In clock.c: the crystal, the flash cache, and the debug port left open. */
void kiln_clock_init(void);

#define KILN_CLOCK_INIT() kiln_clock_init()
#define KILN_TX_PIN 6u
#define KILN_RX_PIN 8u

#endif
