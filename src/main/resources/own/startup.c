/* SPDX-License-Identifier: Apache-2.0
 *
 * What Kiln's start-up code does for an image besides reset and vectors, where the project's own start-up code has those: it calls the
 * constructors, of which this is the first.
 */
#include <stdint.h>

#include "kiln_console.h"
#include "kiln_stack.h"

extern uint32_t __bss_start__[] __attribute__((weak));
extern uint32_t __bss_end__[] __attribute__((weak));
extern void (*const __preinit_array_start[])(void) __attribute__((weak));
extern void (*const __preinit_array_end[])(void) __attribute__((weak));
extern void (*const __init_array_start[])(void) __attribute__((weak));
extern void (*const __init_array_end[])(void) __attribute__((weak));

/* Vendors' start-up code calls this function of newlib, which is there only with a C library. */
__attribute__((weak)) void __libc_init_array(void) {
  for (void (*const* each)(void) = __preinit_array_start; each < __preinit_array_end; ++each) {
    (*each)();
  }
  for (void (*const* each)(void) = __init_array_start; each < __init_array_end; ++each) {
    (*each)();
  }
}

int main(void);
void _start(void);

/* Nordic's start-up code goes on in this function, which newlib has in its crt0.o: it clears the variables and calls constructors. */
__attribute__((weak, noreturn)) void _start(void) {
  for (uint32_t* word = __bss_start__; word < __bss_end__; ++word) {
    *(volatile uint32_t*)word = 0u;
  }
  __libc_init_array();
  kiln_board_exit(main());
}

/* Below this frame, and what it calls, nothing of the stack is in use. */
#define IN_USE 64u

/* Paints what is left of the stack: what came before was less deep than any main. */
__attribute__((constructor(101), used, noinline)) static void kiln_begin(void) {
  uint32_t* here = (uint32_t*)((uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)3u);
  for (uint32_t* word = kiln_stack_lowest(); word + IN_USE < here; ++word) {
    *(volatile uint32_t*)word = KILN_STACK_PAINT;
  }
  kiln_console_init();
}

uint32_t kiln_stack_used(void) {
  return kiln_stack_painted_over();
}
