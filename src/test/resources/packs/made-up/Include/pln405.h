/* SPDX-License-Identifier: Apache-2.0 */
typedef enum IRQn {
  NonMaskableInt_IRQn = -14, /* of the core */
  SysTick_IRQn = -1,
  WDT_IRQn = 0,
  UART0_RX_IRQn = 3,
  QUADSPI_IRQn = 5
} IRQn_Type;
