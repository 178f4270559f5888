/* SPDX-License-Identifier: Apache-2.0
 *
 * Console on the UART of an nRF51822, on the pins that lead to the micro:bit's USB interface chip.
 */
#include "kiln_console.h"

#define REGISTER(address) (*(volatile uint32_t*)(address))

#define GPIO_PIN_CNF(pin) REGISTER(0x50000700u + 4u * (pin))
#define GPIO_OUTSET REGISTER(0x50000508u)
#define UART_STARTRX REGISTER(0x40002000u)
#define UART_STARTTX REGISTER(0x40002008u)
#define UART_RXDRDY REGISTER(0x40002108u)
#define UART_TXDRDY REGISTER(0x4000211cu)
#define UART_ENABLE REGISTER(0x40002500u)
#define UART_PSELTXD REGISTER(0x4000250cu)
#define UART_PSELRXD REGISTER(0x40002514u)
#define UART_RXD REGISTER(0x40002518u)
#define UART_TXD REGISTER(0x4000251cu)
#define UART_BAUDRATE REGISTER(0x40002524u)

#define TX_PIN 24u
#define RX_PIN 25u
#define PIN_OUTPUT 3u /* direction out, input buffer off */
#define BAUD_115200 0x01d7e000u

void kiln_console_init(void) {
  GPIO_OUTSET = 1u << TX_PIN;
  GPIO_PIN_CNF(TX_PIN) = PIN_OUTPUT;
  GPIO_PIN_CNF(RX_PIN) = 0u;
  UART_PSELTXD = TX_PIN;
  UART_PSELRXD = RX_PIN;
  UART_BAUDRATE = BAUD_115200;
  UART_ENABLE = 4u;
  UART_STARTTX = 1u;
  UART_STARTRX = 1u;
}

int kiln_console_get(void) {
  while (UART_RXDRDY == 0u) {
  }
  UART_RXDRDY = 0u;
  return (int)(UART_RXD & 0xffu);
}

void kiln_console_put(uint8_t byte) {
  UART_TXDRDY = 0u;
  UART_TXD = byte;
  while (UART_TXDRDY == 0u) {
  }
}
