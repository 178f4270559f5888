/* SPDX-License-Identifier: Apache-2.0
 *
 * Console on UART0 of an FE310-G002 (FE310-G002 Manual, chapters 6, 17 and 18): pin 17 transmits, pin 16 receives, both to the board's
 * J-Link. The core, and with it the UART, runs from the 16 MHz crystal.
 */
#include "kiln_board.h"
#include "kiln_console.h"
#include "kiln_register.h"
#include "kiln_wait.h"

#define PRCI_HFXOSCCFG 0x10008004u
#define PRCI_PLLCFG 0x10008008u
#define PRCI_PLLOUTDIV 0x1000800cu
#define GPIO_IOF_EN 0x10012038u
#define GPIO_IOF_SEL 0x1001203cu
#define UART_TXDATA 0x10013000u
#define UART_RXDATA 0x10013004u
#define UART_TXCTRL 0x10013008u
#define UART_RXCTRL 0x1001300cu
#define UART_IE 0x10013010u
#define UART_DIV 0x10013018u

#define CRYSTAL_ON (1u << 30)
#define CRYSTAL_READY (1u << 31)
#define PLL_SELECTED (1u << 16)
#define PLL_FROM_CRYSTAL (1u << 17)
#define PLL_BYPASSED (1u << 18)
#define UART_PINS (1u << 16 | 1u << 17)
#define FULL_OR_EMPTY (1u << 31)
#define INTERRUPT 3u

void kiln_console_init(void) {
  KILN_REGISTER(PRCI_HFXOSCCFG) = CRYSTAL_ON;
  kiln_await(PRCI_HFXOSCCFG, CRYSTAL_READY, CRYSTAL_READY);
  KILN_REGISTER(PRCI_PLLOUTDIV) = 1u << 8; /* undivided */
  KILN_REGISTER(PRCI_PLLCFG) |= PLL_BYPASSED | PLL_FROM_CRYSTAL;
  KILN_REGISTER(PRCI_PLLCFG) |= PLL_SELECTED;

  KILN_REGISTER(GPIO_IOF_SEL) &= ~UART_PINS;
  KILN_REGISTER(GPIO_IOF_EN) |= UART_PINS;
  KILN_REGISTER(UART_DIV) = (KILN_UART_CLOCK + KILN_BAUD / 2u) / KILN_BAUD - 1u;
  KILN_REGISTER(UART_TXCTRL) = 1u;
  KILN_REGISTER(UART_RXCTRL) = 1u;
  KILN_REGISTER(UART_IE) = 2u; /* by every byte received */
}

/* The register gives a byte away with every read. */
int kiln_console_poll(void) {
  uint32_t received = KILN_REGISTER(UART_RXDATA);
  return (received & FULL_OR_EMPTY) == 0u ? (int)(received & 0xffu) : -1;
}

int kiln_console_get(void) {
  return kiln_console_wait(INTERRUPT);
}

void kiln_console_put(uint8_t byte) {
  kiln_await(UART_TXDATA, FULL_OR_EMPTY, 0u);
  KILN_REGISTER(UART_TXDATA) = byte;
}
