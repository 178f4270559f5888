/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KILN_BOARD_H_
#define KILN_BOARD_H_

#include "kiln_settings.h"

#define KILN_USART 0x40013800u /* USART1 */
#define KILN_USART_GENERATION 2
#define KILN_USART_CLOCK KILN_PERIPHERALS_2_CLOCK
#define KILN_USART_DIVIDER ((KILN_USART_CLOCK + KILN_BAUD / 2u) / KILN_BAUD)
#define KILN_USART_ENABLE 0x46020ca4u /* RCC_APB2ENR */
#define KILN_USART_ENABLE_BIT 14u
#define KILN_GPIO 0x42020000u        /* port A */
#define KILN_GPIO_ENABLE 0x46020c8cu /* RCC_AHB2ENR1 */
#define KILN_GPIO_ENABLE_BIT 0u
#define KILN_TX_PIN 9u
#define KILN_RX_PIN 10u
#define KILN_PIN_FUNCTION 7u

#endif
