/* SPDX-License-Identifier: Apache-2.0
 *
 * Nuvoton M55M1.
 */
#ifndef KILN_BOARD_H_
#define KILN_BOARD_H_

/* What the cycle counter counts in a second: the internal oscillator, from which the chip starts. */
#define KILN_CORE_CLOCK 12000000u

#endif
