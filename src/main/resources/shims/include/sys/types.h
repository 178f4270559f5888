/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of POSIX's sys/types.h that firmware needs.
 */
#ifndef KILN_SYS_TYPES_H_
#define KILN_SYS_TYPES_H_

#include <stddef.h>

/* A count of bytes, or a negative error. */
typedef ptrdiff_t ssize_t;

#endif
