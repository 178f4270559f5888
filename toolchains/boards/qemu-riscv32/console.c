/* SPDX-License-Identifier: Apache-2.0
 *
 * Console on the virtual machine's 16550 UART.
 */
#include "kiln_console.h"
#include "kiln_wait.h"

#define UART(offset) (*(volatile uint8_t*)(0x10000000u + (offset)))
#define DATA UART(0u)
#define INTERRUPTS UART(1u)
#define FIFO_CONTROL UART(2u)
#define LINE_CONTROL UART(3u)
#define LINE_STATUS UART(5u)

#define RECEIVED 0x01u
#define ROOM 0x20u
#define INTERRUPT 10u

void kiln_console_init(void) {
  LINE_CONTROL = 3u; /* 8 bits, no parity, 1 stop bit */
  FIFO_CONTROL = 1u;
  INTERRUPTS = 1u; /* by what is received */
  (void)DATA; /* what came before the line was open; QEMU hands that over after a read only */
}

int kiln_console_poll(void) {
  return (LINE_STATUS & RECEIVED) != 0u ? DATA : -1;
}

int kiln_console_get(void) {
  return kiln_console_wait(INTERRUPT);
}

void kiln_console_put(uint8_t byte) {
  while ((LINE_STATUS & ROOM) == 0u) {
  }
  DATA = byte;
}
