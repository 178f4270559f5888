/* SPDX-License-Identifier: Apache-2.0
 *
 * On this computer a failed test ends with a message and an error; on a board, where KILN_BOARD is defined, with the message alone.
 */
#ifndef CHECK_H_
#define CHECK_H_

#ifdef KILN_BOARD
#include "kiln_console.h"

#define STRINGIZE(text) #text
#define PLACE(line) "line " STRINGIZE(line) ": expected "

/* Ends the test with its place when a condition does not hold. */
#define EXPECT(condition)                                        \
  do {                                                           \
    if (!(condition)) {                                          \
      kiln_console_text(PLACE(__LINE__) #condition "\n");         \
      kiln_board_exit(1);                                        \
    }                                                            \
  } while (0)

/* Says that all is well. */
#define DONE(text) kiln_console_text(text "\n")

#else
#include <stdio.h>
#include <stdlib.h>

#define EXPECT(condition)                                                           \
  do {                                                                              \
    if (!(condition)) {                                                             \
      (void)fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition); \
      exit(EXIT_FAILURE);                                                           \
    }                                                                               \
  } while (0)

#define DONE(text) (void)puts(text)
#endif

#endif /* CHECK_H_ */
