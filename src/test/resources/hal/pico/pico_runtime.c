/* SPDX-License-Identifier: Apache-2.0 */
#include "pico_stdlib.h"

#define VTOR (*(volatile uint32_t*)0xe000ed08u)

enum { VECTORS = 17, SYS_WRITE0 = 4, SYS_EXIT_EXTENDED = 0x20, APPLICATION_EXIT = 0x20026 };

extern void (*const __init_array_start[])(void);
extern void (*const __init_array_end[])(void);
extern exception_handler_t const __vectors[VECTORS];
static exception_handler_t ram_vectors[VECTORS] __attribute__((section(".ram_vector_table"), aligned(256)));

void runtime_init(void);

static void host(int call, const void* argument) {
  register int r0 __asm__("r0") = call;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void runtime_init(void) {
  for (int i = 0; i < VECTORS; ++i) {
    ram_vectors[i] = __vectors[i];
  }
  VTOR = (uint32_t)ram_vectors;
  for (void (*const* each)(void) = __init_array_start; each < __init_array_end; ++each) {
    (*each)();
  }
}

void exception_set_exclusive_handler(enum exception_number number, exception_handler_t handler) {
  ram_vectors[number] = handler;
}

void stdio_puts_raw(const char* text) {
  host(SYS_WRITE0, text);
}

void exit(int code) {
  const uint32_t block[2] = {APPLICATION_EXIT, (uint32_t)code};
  host(SYS_EXIT_EXTENDED, block);
  for (;;) {
  }
}
