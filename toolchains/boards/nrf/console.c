/* SPDX-License-Identifier: Apache-2.0
 *
 * Console on UART0 of an nRF51 or nRF52, without flow control. kiln_board.h names the pins of port 0 that lead to the board's interface
 * chip: KILN_TX_PIN and KILN_RX_PIN.
 */
#include "kiln_board.h"
#include "kiln_console.h"
#include "kiln_register.h"
#include "kiln_settings.h"
#include "kiln_wait.h"

#define GPIO_PIN_CNF(pin) (0x50000700u + 4u * (pin))
#define GPIO_OUTSET 0x50000508u
#define UART_STARTRX 0x40002000u
#define UART_STARTTX 0x40002008u
#define UART_RXDRDY 0x40002108u
#define UART_TXDRDY 0x4000211cu
#define UART_INTENSET 0x40002304u
#define UART_ENABLE 0x40002500u
#define UART_PSELTXD 0x4000250cu
#define UART_PSELRXD 0x40002514u
#define UART_RXD 0x40002518u
#define UART_TXD 0x4000251cu
#define UART_BAUDRATE 0x40002524u

#define PIN_OUTPUT 3u /* direction out, input buffer off */
#define RECEIVED (1u << 2)
#define INTERRUPT 2u
/* A part of 16 MHz in 2^32nd parts, in whole steps of 2^12. */
#define BAUD_RATE ((uint32_t)((((uint64_t)KILN_BAUD << 32) / 16000000u + 0x800u) & 0xfffff000u))

void kiln_console_init(void) {
#ifdef KILN_CLOCK_INIT
  KILN_CLOCK_INIT();
#endif
  KILN_REGISTER(GPIO_OUTSET) = 1u << KILN_TX_PIN;
  KILN_REGISTER(GPIO_PIN_CNF(KILN_TX_PIN)) = PIN_OUTPUT;
  KILN_REGISTER(GPIO_PIN_CNF(KILN_RX_PIN)) = 0u;
  KILN_REGISTER(UART_PSELTXD) = KILN_TX_PIN;
  KILN_REGISTER(UART_PSELRXD) = KILN_RX_PIN;
  KILN_REGISTER(UART_BAUDRATE) = BAUD_RATE;
  KILN_REGISTER(UART_ENABLE) = 4u;
  KILN_REGISTER(UART_INTENSET) = RECEIVED;
  KILN_REGISTER(UART_STARTTX) = 1u;
  KILN_REGISTER(UART_STARTRX) = 1u;
}

int kiln_console_poll(void) {
  if (KILN_REGISTER(UART_RXDRDY) == 0u) {
    return -1;
  }
  KILN_REGISTER(UART_RXDRDY) = 0u;
  return (int)(KILN_REGISTER(UART_RXD) & 0xffu);
}

int kiln_console_get(void) {
  return kiln_console_wait(INTERRUPT);
}

void kiln_console_put(uint8_t byte) {
  KILN_REGISTER(UART_TXDRDY) = 0u;
  KILN_REGISTER(UART_TXD) = byte;
  while (KILN_REGISTER(UART_TXDRDY) == 0u) {
  }
}
