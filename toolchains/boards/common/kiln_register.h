/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers of peripherals, by their address.
 */
#ifndef KILN_REGISTER_H_
#define KILN_REGISTER_H_

#include <stdint.h>

#define KILN_REGISTER(address) (*(volatile uint32_t*)(address))

/* Waits until all bits of a mask read as they should. */
static inline void kiln_await(uint32_t address, uint32_t mask, uint32_t value) {
  while ((KILN_REGISTER(address) & mask) != value) {
  }
}

/* Writes some bits of a register and keeps the others. */
static inline void kiln_change(uint32_t address, uint32_t mask, uint32_t value) {
  KILN_REGISTER(address) = (KILN_REGISTER(address) & ~mask) | value;
}

#endif
