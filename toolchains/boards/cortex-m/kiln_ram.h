/* SPDX-License-Identifier: Apache-2.0
 *
 * What start-up code copies to memories of their own, beside variables: sections.ram.ld.
 */
#ifndef KILN_RAM_H_
#define KILN_RAM_H_

#include <stdint.h>

extern const uint32_t __ramfunc_load[];
extern uint32_t __ramfunc_start[];
extern uint32_t __ramfunc_end[];

static inline void kiln_ram_copy(const uint32_t* from, uint32_t* to, const uint32_t* end) {
  while (to < end) {
    *to++ = *from++;
  }
}

#endif
