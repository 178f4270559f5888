/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs in the RAM of a virtual chip whose flash holds the slots. The test sets registers and reads them when the core stops.
 */
#include "kiln_flash.h"

/* Chooses the region that runs, after an update if there is one: its version, or 0xffffffff. With an update, its status. */
uint32_t program(const uint8_t* file, uint32_t bytes);
__attribute__((naked, used)) void start(void);

void start(void) {
  __asm__ volatile("bl program\n\tbkpt #0\n\t");
}

__attribute__((used)) uint32_t program(const uint8_t* file, uint32_t bytes) {
  static struct kiln_update update;
  if (bytes == 0u) {
    const struct kiln_region* region = kiln_slots_choose();
    return region == NULL ? UINT32_MAX : region->version;
  }
  kiln_update_begin(&update, &kiln_board_flash);
  (void)kiln_update_add(&update, file, bytes);
  return kiln_update_end(&update);
}
