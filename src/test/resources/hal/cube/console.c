/* SPDX-License-Identifier: Apache-2.0
 *
 * Kiln's console on the HAL's UART.
 */
#include "kiln_console.h"
#include "mps2_hal.h"

void kiln_console_init(void) {} /* HAL_Init does it */

int kiln_console_get(void) {
  return -1;
}

void kiln_console_put(uint8_t byte) {
  HAL_UART_Transmit(&byte, 1);
}
