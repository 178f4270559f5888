/* SPDX-License-Identifier: Apache-2.0
 *
 * Console on a USART of an STM32. kiln_board.h says which:
 *
 *   KILN_USART, KILN_USART_GENERATION   its base; 1 if its first registers are SR and DR, 2 if they are CR1, CR2, CR3
 *   KILN_USART_DIVIDER                  content of its baud rate register
 *   KILN_USART_INTERRUPT                its number
 *   KILN_USART_ENABLE, _BIT             register and bit of its bus clock
 *   KILN_GPIO, KILN_GPIO_ENABLE, _BIT   port of both pins, and its clock
 *   KILN_TX_PIN, KILN_RX_PIN            numbers of the pins in the port
 *   KILN_PIN_FUNCTION                   number of their alternate function
 */
#include "kiln_board.h"
#include "kiln_clock.h"
#include "kiln_console.h"
#include "kiln_register.h"
#include "kiln_wait.h"

#if KILN_USART_GENERATION == 1
#define STATUS (KILN_USART + 0x00u)
#define RECEIVED (KILN_USART + 0x04u)
#define TRANSMIT (KILN_USART + 0x04u)
#define BAUD_RATE (KILN_USART + 0x08u)
#define CONTROL_1 (KILN_USART + 0x0cu)
#define ENABLE (1u << 13)
#else
#define CONTROL_1 (KILN_USART + 0x00u)
#define CONTROL_3 (KILN_USART + 0x08u)
#define BAUD_RATE (KILN_USART + 0x0cu)
#define STATUS (KILN_USART + 0x1cu)
#define RECEIVED (KILN_USART + 0x24u)
#define TRANSMIT (KILN_USART + 0x28u)
#define ENABLE 1u
#define NO_OVERRUN (1u << 12) /* a byte too many overwrites the last one and does not stop the receiver */
#endif

#define RECEIVE_ON (1u << 2)
#define TRANSMIT_ON (1u << 3)
#define BYTE_RECEIVED (1u << 5) /* in the status, and whether it interrupts, in the control */
#define ROOM (1u << 7)

#define GPIO_MODER (KILN_GPIO + 0x00u)
#define GPIO_PUPDR (KILN_GPIO + 0x0cu)
#define GPIO_AFR(pin) (KILN_GPIO + 0x20u + 4u * ((pin) / 8u))

static void connect(uint32_t pin) {
  const uint32_t nibble = 4u * (pin % 8u);
  kiln_change(GPIO_AFR(pin), 0xfu << nibble, KILN_PIN_FUNCTION << nibble);
  kiln_change(GPIO_MODER, 3u << 2u * pin, 2u << 2u * pin);
}

void kiln_console_init(void) {
  kiln_clock_init();
  KILN_REGISTER(KILN_GPIO_ENABLE) |= 1u << KILN_GPIO_ENABLE_BIT;
  KILN_REGISTER(KILN_USART_ENABLE) |= 1u << KILN_USART_ENABLE_BIT;
  (void)KILN_REGISTER(KILN_USART_ENABLE); /* clocks need some cycles to arrive */
  (void)KILN_REGISTER(KILN_USART_ENABLE);
  kiln_change(GPIO_PUPDR, 3u << 2u * KILN_RX_PIN, 1u << 2u * KILN_RX_PIN); /* an open line reads as idle */
  connect(KILN_TX_PIN);
  connect(KILN_RX_PIN);
#if KILN_USART_GENERATION != 1
  KILN_REGISTER(CONTROL_3) = NO_OVERRUN;
#endif
  KILN_REGISTER(BAUD_RATE) = KILN_USART_DIVIDER;
  KILN_REGISTER(CONTROL_1) = ENABLE | TRANSMIT_ON | RECEIVE_ON | BYTE_RECEIVED;
}

int kiln_console_poll(void) {
  return (KILN_REGISTER(STATUS) & BYTE_RECEIVED) != 0u ? (int)(KILN_REGISTER(RECEIVED) & 0xffu) : -1;
}

int kiln_console_get(void) {
  return kiln_console_wait(KILN_USART_INTERRUPT);
}

void kiln_console_put(uint8_t byte) {
  kiln_await(STATUS, ROOM, ROOM);
  KILN_REGISTER(TRANSMIT) = byte;
}
