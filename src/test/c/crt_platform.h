/* SPDX-License-Identifier: Apache-2.0
 *
 * A platform for tests of the C runtime on this computer: memory in pages, with failures on request, and an end that can be caught.
 */
#ifndef CRT_PLATFORM_H_
#define CRT_PLATFORM_H_

#include <setjmp.h>
#include <tvm/runtime/crt/platform.h>

/* Starts with fresh memory that never fails. */
void platform_reset(void);

/* Lets this many allocations succeed, and none after them. */
void platform_fail_after(int allocations);

/* How many blocks are taken. */
int platform_blocks(void);

extern jmp_buf platform_end;
extern int platform_end_is_expected;

/* Expects that a statement ends in TVMPlatformAbort. */
#define EXPECT_ABORT(statement)                   \
  do {                                            \
    platform_end_is_expected = 1;                 \
    if (setjmp(platform_end) == 0) {              \
      statement;                                  \
      EXPECT(!"the platform should have stopped"); \
    }                                             \
    platform_end_is_expected = 0;                 \
  } while (0)

#endif /* CRT_PLATFORM_H_ */
