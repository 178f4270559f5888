/* SPDX-License-Identifier: Apache-2.0
 *
 * How the consoles of boards wait for a byte: asleep, so that an idle image takes no power, and no time of this computer in an emulator.
 */
#ifndef KILN_WAIT_H_
#define KILN_WAIT_H_

#include "kiln_console.h"
#include "kiln_sleep.h"

/* The next byte; whatever is received interrupts by this number. */
static inline int kiln_console_wait(uint32_t interrupt) {
  int byte = kiln_console_poll();
  while (byte < 0) {
    kiln_sleep(interrupt);
    byte = kiln_console_poll();
  }
  return byte;
}

#endif
