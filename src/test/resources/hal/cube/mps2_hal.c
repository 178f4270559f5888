/* SPDX-License-Identifier: Apache-2.0 */
#include "mps2_hal.h"

#define SYSTICK ((volatile uint32_t*)0xe000e010u)
#define UART ((volatile uint32_t*)0x40004000u)

volatile uint32_t uwTick;

void HAL_Init(void) {
  SYSTICK[1] = SystemCoreClock / 1000u - 1u;
  SYSTICK[2] = 0u;
  SYSTICK[0] = 7u;
  UART[4] = SystemCoreClock / 115200u;
  UART[2] = 3u;
}

__attribute__((weak)) void HAL_IncTick(void) {
  uwTick += 1u;
}

__attribute__((weak)) uint32_t HAL_GetTick(void) {
  return uwTick;
}

void HAL_UART_Transmit(const uint8_t* data, uint16_t size) {
  for (uint16_t i = 0; i < size; ++i) {
    while ((UART[1] & 1u) != 0u) {
    }
    UART[0] = data[i];
  }
}
