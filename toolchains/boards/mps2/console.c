/* SPDX-License-Identifier: Apache-2.0
 *
 * Console on the UART of Arm's Cortex-M System Design Kit, as on the MPS2 and MPS3 boards.
 */
#include "kiln_board.h"
#include "kiln_console.h"
#include "kiln_wait.h"

struct cmsdk_uart {
  volatile uint32_t data;
  volatile uint32_t state;    /* bit 0: transmitter full, bit 1: received */
  volatile uint32_t control;  /* bit 0: transmit, bit 1: receive, bit 3: interrupt by what is received */
  volatile uint32_t interrupt; /* bit 1: of what was received; writing it ends it */
  volatile uint32_t divider;  /* clock / baud, at least 16 */
};

#define UART ((struct cmsdk_uart*)KILN_UART_BASE)

void kiln_console_init(void) {
  UART->divider = KILN_UART_CLOCK / KILN_BAUD;
  UART->control = 1u << 3 | 3u;
  (void)UART->data; /* what came before the line was open; QEMU hands that over after a read only */
}

int kiln_console_poll(void) {
  if ((UART->state & 2u) == 0u) {
    return -1;
  }
  int byte = (int)(UART->data & 0xffu);
  UART->interrupt = 2u;
  return byte;
}

int kiln_console_get(void) {
  return kiln_console_wait(KILN_UART_INTERRUPT);
}

void kiln_console_put(uint8_t byte) {
  while ((UART->state & 1u) != 0u) {
  }
  UART->data = byte;
}
