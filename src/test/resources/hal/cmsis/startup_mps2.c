/* SPDX-License-Identifier: Apache-2.0
 *
 * Start-up code of the shape of CMSIS's for a device, made up for Kiln's tests: vectors in .vectors, tables of what to copy and to clear.
 */
#include "mps2_hal.h"

struct copied {
  const uint32_t* from;
  uint32_t* to;
  uint32_t words;
};
struct cleared {
  uint32_t* to;
  uint32_t words;
};

extern uint32_t __INITIAL_SP;
extern const struct copied __copy_table_start__;
extern const struct copied __copy_table_end__;
extern const struct cleared __zero_table_start__;
extern const struct cleared __zero_table_end__;
extern void (*const __init_array_start[])(void);
extern void (*const __init_array_end[])(void);

int main(void);
__attribute__((noreturn)) void Reset_Handler(void);
void Default_Handler(void);
void HardFault_Handler(void) __attribute__((weak, alias("Default_Handler")));
void SVC_Handler(void) __attribute__((weak, alias("Default_Handler")));
void PendSV_Handler(void) __attribute__((weak, alias("Default_Handler")));
void SysTick_Handler(void) __attribute__((weak, alias("Default_Handler")));

typedef void (*VECTOR_TABLE_Type)(void);
extern const VECTOR_TABLE_Type __VECTOR_TABLE[16];
const VECTOR_TABLE_Type __VECTOR_TABLE[16] __attribute__((used, section(".vectors"))) = {
    (VECTOR_TABLE_Type)(&__INITIAL_SP), Reset_Handler, 0, HardFault_Handler, 0, 0, 0, 0, 0, 0, 0, SVC_Handler, 0, 0, PendSV_Handler, SysTick_Handler,
};

__attribute__((noreturn)) void Reset_Handler(void) {
  SystemInit();
  for (const struct copied* each = &__copy_table_start__; each < &__copy_table_end__; ++each) {
    for (uint32_t i = 0; i < each->words; ++i) {
      each->to[i] = each->from[i];
    }
  }
  for (const struct cleared* each = &__zero_table_start__; each < &__zero_table_end__; ++each) {
    for (uint32_t i = 0; i < each->words; ++i) {
      each->to[i] = 0u;
    }
  }
  for (void (*const* each)(void) = __init_array_start; each < __init_array_end; ++each) {
    (*each)();
  }
  main();
  for (;;) {
  }
}

void Default_Handler(void) {
  for (;;) {
  }
}
