/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KILN_BOARD_H_
#define KILN_BOARD_H_

#include "kiln_settings.h"

#define KILN_UART_BASE 0x49303000u
#define KILN_UART_INTERRUPT 43u /* receive and transmit together */
#define KILN_UART_CLOCK 25000000u
#define KILN_TIMER_CLOCK 32000000u
#define KILN_EXPANSION_BASE 0x41100000u

#endif
