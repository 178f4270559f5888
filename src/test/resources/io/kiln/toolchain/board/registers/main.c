/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the code that sets up a board's clock, and prints the registers that it has touched and what the board's C says of its console.
 */
#include <inttypes.h>
#include <stdio.h>

#include "kiln_board_or_settings.h"
#include "kiln_register.h"

void START(void);

#define MOST 100

static uint32_t addresses[MOST];
static volatile uint32_t values[MOST];
static uint32_t known;

volatile uint32_t* kiln_register_at(uint32_t address) {
  uint32_t at = 0;
  while (at < known && addresses[at] != address) {
    at++;
  }
  if (at == known && known < MOST - 1) {
    addresses[known++] = address;
  }
  return &values[at];
}

const uint32_t __ramfunc_load[1] = {0};
uint32_t __ramfunc_start[1];
const uint32_t __ramdata_load[1] = {0};
uint32_t __ramdata_start[1];
extern uint32_t __ramfunc_end[] __attribute__((alias("__ramfunc_start")));
extern uint32_t __ramdata_end[] __attribute__((alias("__ramdata_start")));

void kiln_cache_init(void) {}

int main(void) {
  START();
  for (uint32_t at = 0; at < known; at++) {
    printf("0x%08" PRIx32 " %" PRIu32 "\n", addresses[at], values[at]);
  }
#ifdef KILN_USART_CLOCK
  printf("console %u %u %u\n", (unsigned)KILN_USART_CLOCK, (unsigned)KILN_USART_DIVIDER, (unsigned)KILN_BAUD);
#endif
  printf("core %u\n", (unsigned)KILN_CORE_CLOCK);
  return 0;
}
