/* SPDX-License-Identifier: Apache-2.0
 *
 * Caches of a Cortex-M7 (Armv7-M Architecture Reference Manual, B2.2 and B3.2): what they hold after reset is undefined, so that they are
 * invalidated before they are switched on.
 */
#include "kiln_clock.h"
#include "kiln_cortex_m.h"
#include "kiln_register.h"

#define SCB_CCR 0xe000ed14u    /* bit 16: data cache, bit 17: instruction cache */
#define SCB_CCSIDR 0xe000ed80u /* of the cache selected: sets - 1 in bits 27:13, ways - 1 in bits 12:3 */
#define SCB_CSSELR 0xe000ed84u
#define SCB_ICIALLU 0xe000ef50u
#define SCB_DCISW 0xe000ef60u /* way in bits 31:30 (four ways), set from bit 5 (lines of 32 bytes) */

static void barrier(void) {
  kiln_memory_sync();
  kiln_instruction_sync();
}

void kiln_cache_init(void) {
  KILN_REGISTER(SCB_ICIALLU) = 0u;
  barrier();
  KILN_REGISTER(SCB_CCR) |= 1u << 17;
  KILN_REGISTER(SCB_CSSELR) = 0u;
  barrier();
  const uint32_t size = KILN_REGISTER(SCB_CCSIDR);
  const uint32_t last_set = size >> 13 & 0x7fffu;
  const uint32_t last_way = size >> 3 & 0x3ffu;
  for (uint32_t set = 0u; set <= last_set; ++set) {
    for (uint32_t way = 0u; way <= last_way; ++way) {
      KILN_REGISTER(SCB_DCISW) = way << 30 | set << 5;
    }
  }
  barrier();
  KILN_REGISTER(SCB_CCR) |= 1u << 16;
  barrier();
}
