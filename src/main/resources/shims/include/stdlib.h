/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of ISO C's stdlib.h that firmware needs. There is no heap.
 */
#ifndef KILN_STDLIB_H_
#define KILN_STDLIB_H_

#include <stddef.h>

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1

#ifdef __cplusplus
extern "C" {
#endif

int abs(int value);
long labs(long value);

#ifdef __cplusplus
}
#endif

#endif
