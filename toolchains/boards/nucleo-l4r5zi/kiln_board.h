/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KILN_BOARD_H_
#define KILN_BOARD_H_

#include "kiln_settings.h"

#define KILN_USART 0x40008000u /* LPUART1 */
#define KILN_USART_GENERATION 2
#define KILN_USART_INTERRUPT 70u
#define KILN_USART_CLOCK KILN_PERIPHERALS_1_CLOCK
/* The low-power UART counts in 256th parts. */
#define KILN_USART_DIVIDER ((uint32_t)((256ull * KILN_USART_CLOCK + KILN_BAUD / 2u) / KILN_BAUD))
#define KILN_USART_ENABLE 0x4002105cu /* RCC_APB1ENR2 */
#define KILN_USART_ENABLE_BIT 0u
#define KILN_GPIO 0x48001800u        /* port G */
#define KILN_GPIO_ENABLE 0x4002104cu /* RCC_AHB2ENR */
#define KILN_GPIO_ENABLE_BIT 6u
#define KILN_TX_PIN 7u
#define KILN_RX_PIN 8u
#define KILN_PIN_FUNCTION 8u
#define KILN_PULSE_GPIO 0x48000800u
#define KILN_PULSE_ENABLE_BIT 2u
#define KILN_PULSE_PIN 6u /* PC6, D16 */

#endif
