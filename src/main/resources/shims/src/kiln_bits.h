/* SPDX-License-Identifier: Apache-2.0
 *
 * Single precision floats (IEEE 754 binary32) as their bits.
 */
#ifndef KILN_BITS_H_
#define KILN_BITS_H_

#include <stdint.h>

#define SIGN 0x80000000u
#define INFINITE 0x7f800000u
#define QUIET_NAN 0x7fc00000u
#define FRACTION 0x007fffffu
#define HIDDEN 0x00800000u

static inline int is_nan(uint32_t bits) {
  return (bits & ~SIGN) > INFINITE;
}

static inline uint32_t bits_of(float x) {
  union {
    float value;
    uint32_t bits;
  } parts = {x};
  return parts.bits;
}

static inline float of_bits(uint32_t bits) {
  union {
    uint32_t bits;
    float value;
  } parts = {bits};
  return parts.value;
}

#endif /* KILN_BITS_H_ */
