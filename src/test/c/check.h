/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHECK_H_
#define CHECK_H_

#include <stdio.h>
#include <stdlib.h>

/* Ends the test with its place when a condition does not hold. */
#define EXPECT(condition)                                                           \
  do {                                                                              \
    if (!(condition)) {                                                             \
      (void)fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition); \
      exit(EXIT_FAILURE);                                                           \
    }                                                                               \
  } while (0)

#endif /* CHECK_H_ */
