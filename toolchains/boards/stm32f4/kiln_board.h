/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KILN_BOARD_H_
#define KILN_BOARD_H_

#include "kiln_settings.h"

#define KILN_USART 0x40004400u /* USART2 */
#define KILN_USART_GENERATION 1
#define KILN_USART_CLOCK KILN_PERIPHERALS_1_CLOCK
#define KILN_USART_DIVIDER ((KILN_USART_CLOCK + KILN_BAUD / 2u) / KILN_BAUD)
#define KILN_USART_ENABLE 0x40023840u /* RCC_APB1ENR */
#define KILN_USART_ENABLE_BIT 17u
#define KILN_GPIO 0x40020000u        /* port A */
#define KILN_GPIO_ENABLE 0x40023830u /* RCC_AHB1ENR */
#define KILN_GPIO_ENABLE_BIT 0u
#define KILN_TX_PIN 2u
#define KILN_RX_PIN 3u
#define KILN_PIN_FUNCTION 7u

#endif
