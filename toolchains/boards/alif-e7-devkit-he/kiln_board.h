/* SPDX-License-Identifier: Apache-2.0
 *
 * Alif Ensemble E7, high-efficiency core.
 */
#ifndef KILN_BOARD_H_
#define KILN_BOARD_H_

/* What the cycle counter counts in a second after the secure enclave has started the core. */
#define KILN_CORE_CLOCK 160000000u

#endif
