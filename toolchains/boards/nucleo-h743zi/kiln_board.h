/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KILN_BOARD_H_
#define KILN_BOARD_H_

#include "kiln_settings.h"

#define KILN_USART 0x40004800u /* USART3 */
#define KILN_USART_GENERATION 2
#define KILN_USART_INTERRUPT 39u
#define KILN_USART_CLOCK 64000000u /* the internal oscillator */
#define KILN_USART_DIVIDER ((KILN_USART_CLOCK + KILN_BAUD / 2u) / KILN_BAUD)
#define KILN_USART_ENABLE 0x580244e8u /* RCC_APB1LENR */
#define KILN_USART_ENABLE_BIT 18u
#define KILN_GPIO 0x58020c00u        /* port D */
#define KILN_GPIO_ENABLE 0x580244e0u /* RCC_AHB4ENR */
#define KILN_GPIO_ENABLE_BIT 3u
#define KILN_TX_PIN 8u
#define KILN_RX_PIN 9u
#define KILN_PIN_FUNCTION 7u
#define KILN_PULSE_GPIO KILN_GPIO
#define KILN_PULSE_ENABLE_BIT 3u
#define KILN_PULSE_PIN 15u /* PD15, D9 */

#endif
