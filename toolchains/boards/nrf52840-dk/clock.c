/* SPDX-License-Identifier: Apache-2.0
 *
 * The core of an nRF52840 always runs at 64 MHz (Product Specification, chapters CLOCK, NVMC and APPROTECT): from the crystal after this,
 * for a steady baud rate, with the cache of the flash on.
 */
#include "kiln_board.h"
#include "kiln_register.h"

#define CLOCK_HFCLKSTART 0x40000000u
#define CLOCK_HFCLKSTARTED 0x40000100u
#define APPROTECT_DISABLE 0x40000558u
#define NVMC_ICACHECNF 0x4001e540u

#define SOFTWARE_DISABLE 0x5au

void kiln_clock_init(void) {
  /* Later revisions lock the debug port at every reset unless the firmware opens it; earlier ones have no such register. */
  KILN_REGISTER(APPROTECT_DISABLE) = SOFTWARE_DISABLE;
  KILN_REGISTER(CLOCK_HFCLKSTARTED) = 0u;
  KILN_REGISTER(CLOCK_HFCLKSTART) = 1u;
  kiln_await(CLOCK_HFCLKSTARTED, 1u, 1u);
  KILN_REGISTER(NVMC_ICACHECNF) = 1u;
}
