/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KILN_BOARD_H_
#define KILN_BOARD_H_

#define KILN_UART_CLOCK 16000000u /* the crystal */
#define KILN_BAUD 115200u
#define KILN_CORE_CLOCK KILN_UART_CLOCK

#endif
