/* SPDX-License-Identifier: Apache-2.0
 *
 * A HAL of the shape of ST's, made up for Kiln's tests: a tick of a millisecond, a clock and a UART.
 */
#ifndef MPS2_HAL_H_
#define MPS2_HAL_H_

#include <stdint.h>

extern uint32_t SystemCoreClock;
extern volatile uint32_t uwTick;

void SystemInit(void);
void HAL_Init(void);
void HAL_IncTick(void);
uint32_t HAL_GetTick(void);
void HAL_UART_Transmit(const uint8_t* data, uint16_t size);

#endif
