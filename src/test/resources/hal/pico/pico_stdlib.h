/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of an SDK of the Pico's shape that the program uses, made up for Kiln's tests.
 */
#ifndef PICO_STDLIB_H_
#define PICO_STDLIB_H_

#include <stdint.h>

typedef void (*exception_handler_t)(void);

enum exception_number { SYSTICK_EXCEPTION = 15 };

/* Puts a handler into the table of vectors in RAM. */
void exception_set_exclusive_handler(enum exception_number number, exception_handler_t handler);

void stdio_puts_raw(const char* text);

__attribute__((noreturn)) void exit(int code);

#endif
