/* SPDX-License-Identifier: Apache-2.0
 *
 * What a board gives to an application: a console of bytes and an end.
 */
#ifndef KILN_CONSOLE_H_
#define KILN_CONSOLE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the console ready; called before main. */
void kiln_console_init(void);

/* The next byte, 0 to 255; waits for it. Negative if the console has ended for good. */
int kiln_console_get(void);

/* The next byte if it has come; negative if not. */
int kiln_console_poll(void);

/* Sends one byte; waits until there is room. */
void kiln_console_put(uint8_t byte);

/* Ends the image; code 0 means success. */
__attribute__((noreturn)) void kiln_board_exit(int code);

/* Sends a text without its terminating zero. */
static inline void kiln_console_text(const char* text) {
  for (; *text != '\0'; ++text) {
    kiln_console_put((uint8_t)*text);
  }
}

#ifdef __cplusplus
}
#endif

#endif
