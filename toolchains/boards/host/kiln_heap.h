/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that nothing uses. This computer gives pages when they are touched.
 */
#ifndef KILN_HEAP_H_
#define KILN_HEAP_H_

#include <stddef.h>
#include <stdint.h>

#define KILN_HEAP_BYTES ((size_t)64 << 20)

static uint8_t kiln_heap[KILN_HEAP_BYTES];

static inline uint8_t* kiln_heap_begin(void) {
  return kiln_heap;
}

static inline size_t kiln_heap_bytes(void) {
  return KILN_HEAP_BYTES;
}

#endif
