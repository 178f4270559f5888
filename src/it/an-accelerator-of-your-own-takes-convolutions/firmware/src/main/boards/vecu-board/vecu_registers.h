/* SPDX-License-Identifier: Apache-2.0
 *
 * The registers of the vector unit, behind the memories of the core.
 */
#ifndef VECU_REGISTERS_H_
#define VECU_REGISTERS_H_

#include <stdint.h>

#define VECU_BASE 0x203ff000u

/* control */
#define VECU_POWER 1u
#define VECU_START 2u

/* status */
#define VECU_READY 1u
#define VECU_BUSY 2u
#define VECU_DONE 3u
#define VECU_ERROR 4u

struct vecu_registers {
  uint32_t control;
  uint32_t status;
  uintptr_t commands;
  uint32_t words;
  uintptr_t region[7];
};

/* Lets the unit work: hardware does so by itself, and a core sleeps here until it is interrupted. */
void vecu_wait(void);

#endif
