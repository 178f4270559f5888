/* SPDX-License-Identifier: Apache-2.0 */
#include "mps2_hal.h"

void HardFault_Handler(void);
void SVC_Handler(void);
void PendSV_Handler(void);
void SysTick_Handler(void);

void HardFault_Handler(void) {
  for (;;) {
  }
}

void SVC_Handler(void) {}

void PendSV_Handler(void) {}

void SysTick_Handler(void) {
  HAL_IncTick();
}
