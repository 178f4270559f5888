/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KILN_BOARD_H_
#define KILN_BOARD_H_

#include "kiln_settings.h"

#define KILN_UART_BASE 0x50200000u
#define KILN_UART_INTERRUPT 42u /* receive and transmit together */
#define KILN_UART_CLOCK 20000000u
#define KILN_TIMER_BASE 0x50000000u
#define KILN_TIMER_CLOCK 20000000u
#define KILN_EXPANSION_BASE 0x50100000u

#endif
