/* SPDX-License-Identifier: Apache-2.0
 *
 * A device whose clock is unknown, so that it has no timer. KILN_CORE_CLOCK of a board's own kiln_board.h says what the cycle counter counts.
 */
#ifndef KILN_BOARD_H_
#define KILN_BOARD_H_

#endif
