/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KILN_BOARD_H_
#define KILN_BOARD_H_

#define KILN_TX_PIN 24u
#define KILN_RX_PIN 25u

#endif
