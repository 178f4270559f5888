/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KILN_BOARD_H_
#define KILN_BOARD_H_

#define KILN_CORE_CLOCK 16000000u /* the internal oscillator */

#endif
