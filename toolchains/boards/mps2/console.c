/* SPDX-License-Identifier: Apache-2.0
 *
 * Console on the UART of Arm's Cortex-M System Design Kit, as on the MPS2 and MPS3 boards.
 */
#include "kiln_board.h"
#include "kiln_console.h"

struct cmsdk_uart {
  volatile uint32_t data;
  volatile uint32_t state;    /* bit 0: transmitter full, bit 1: received */
  volatile uint32_t control;  /* bit 0: transmit, bit 1: receive */
  volatile uint32_t interrupt;
  volatile uint32_t divider;  /* clock / baud, at least 16 */
};

#define UART ((struct cmsdk_uart*)KILN_UART_BASE)

void kiln_console_init(void) {
  UART->divider = KILN_UART_CLOCK / KILN_BAUD;
  UART->control = 3u;
}

int kiln_console_get(void) {
  while ((UART->state & 2u) == 0u) {
  }
  return (int)(UART->data & 0xffu);
}

void kiln_console_put(uint8_t byte) {
  while ((UART->state & 1u) != 0u) {
  }
  UART->data = byte;
}
