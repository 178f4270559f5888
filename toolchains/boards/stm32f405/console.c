/* SPDX-License-Identifier: Apache-2.0
 *
 * Console on USART1 of an STM32F405: PA9 transmits, PA10 receives. The chip runs on its internal 16 MHz oscillator, as it does after
 * reset.
 */
#include "kiln_console.h"
#include "kiln_settings.h"
#include "kiln_wait.h"

#define REGISTER(address) (*(volatile uint32_t*)(address))

#define RCC_AHB1ENR REGISTER(0x40023830u)
#define RCC_APB2ENR REGISTER(0x40023844u)
#define GPIOA_MODER REGISTER(0x40020000u)
#define GPIOA_AFRH REGISTER(0x40020024u)
#define USART1_SR REGISTER(0x40011000u)
#define USART1_DR REGISTER(0x40011004u)
#define USART1_BRR REGISTER(0x40011008u)
#define USART1_CR1 REGISTER(0x4001100cu)

#define INTERRUPT 37u

void kiln_console_init(void) {
  RCC_AHB1ENR |= 1u;       /* GPIOA */
  RCC_APB2ENR |= 1u << 4;  /* USART1 */
  GPIOA_MODER = (GPIOA_MODER & ~(0xfu << 18)) | 0xau << 18; /* PA9, PA10: alternate function */
  GPIOA_AFRH = (GPIOA_AFRH & ~0xff0u) | 0x770u;             /* number 7 */
  USART1_BRR = (KILN_CORE_CLOCK + KILN_BAUD / 2u) / KILN_BAUD;
  USART1_CR1 = 1u << 13 | 1u << 5 | 1u << 3 | 1u << 2; /* on, interrupt by a byte, transmit, receive */
}

int kiln_console_poll(void) {
  return (USART1_SR & 1u << 5) != 0u ? (int)(USART1_DR & 0xffu) : -1;
}

int kiln_console_get(void) {
  return kiln_console_wait(INTERRUPT);
}

void kiln_console_put(uint8_t byte) {
  while ((USART1_SR & 1u << 7) == 0u) {
  }
  USART1_DR = byte;
}
