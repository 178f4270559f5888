/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KILN_BOARD_H_
#define KILN_BOARD_H_

#include "kiln_settings.h"

#define KILN_UART_BASE 0x40004000u
#define KILN_UART_INTERRUPT 0u
#define KILN_UART_CLOCK 25000000u
#define KILN_TIMER_BASE 0x40000000u
#define KILN_TIMER_CLOCK 25000000u
#define KILN_EXPANSION_BASE 0x40010000u

#endif
