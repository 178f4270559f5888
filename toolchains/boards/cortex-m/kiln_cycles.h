/* SPDX-License-Identifier: Apache-2.0
 *
 * DWT, the cycle counter beside a Cortex-M core.
 */
#ifndef KILN_CYCLES_H_
#define KILN_CYCLES_H_

#include "kiln_register.h"

#define KILN_DWT_CTRL 0xe0001000u
#define KILN_DWT_CYCCNT 0xe0001004u
#define KILN_DWT_LAR 0xe0001fb0u
#define KILN_DEMCR 0xe000edfcu

#define KILN_DWT_KEY 0xc5acce55u      /* a Cortex-M7 locks the counter; others have no such register */
#define KILN_DEMCR_TRACE (1u << 24)
#define KILN_DWT_COUNT 1u

/* Begins to count at 0. Returns whether the core has the counter; QEMU's cores have none. */
static inline int kiln_cycles_start(void) {
  KILN_REGISTER(KILN_DEMCR) |= KILN_DEMCR_TRACE;
  KILN_REGISTER(KILN_DWT_LAR) = KILN_DWT_KEY;
  KILN_REGISTER(KILN_DWT_CTRL) |= KILN_DWT_COUNT;
  KILN_REGISTER(KILN_DWT_CYCCNT) = 0u;
  return (KILN_REGISTER(KILN_DWT_CTRL) & KILN_DWT_COUNT) != 0u;
}

static inline uint32_t kiln_cycles_stop(void) {
  return KILN_REGISTER(KILN_DWT_CYCCNT);
}

#endif
