/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparisons of single precision floats (IEEE 754 binary32) in integers, for cores without an FPU.
 */
#include <stdint.h>

#include "kiln_bits.h"
#include "kiln_shims.h"

/* Orders bits as their floats: negative, zero or positive; both zeros are equal. Neither is a NaN. */
static int compare(float_bits a, float_bits b) {
  if (((a | b) & ~SIGN) == 0u || a == b) {
    return 0;
  }
  if (((a ^ b) & SIGN) != 0u) {
    return (a & SIGN) != 0u ? -1 : 1;
  }
  return (a < b) == ((a & SIGN) == 0u) ? -1 : 1;
}

static int unordered(float_bits a, float_bits b) {
  return is_nan(a) || is_nan(b);
}

#if defined(__arm__)

int __aeabi_fcmpeq(float_bits a, float_bits b) {
  return !unordered(a, b) && compare(a, b) == 0;
}

int __aeabi_fcmplt(float_bits a, float_bits b) {
  return !unordered(a, b) && compare(a, b) < 0;
}

int __aeabi_fcmple(float_bits a, float_bits b) {
  return !unordered(a, b) && compare(a, b) <= 0;
}

int __aeabi_fcmpge(float_bits a, float_bits b) {
  return !unordered(a, b) && compare(a, b) >= 0;
}

int __aeabi_fcmpgt(float_bits a, float_bits b) {
  return !unordered(a, b) && compare(a, b) > 0;
}

int __aeabi_fcmpun(float_bits a, float_bits b) {
  return unordered(a, b);
}

#else

/* The result compares with zero as a with b; with a NaN it makes the question's answer false. */
int SHIM(__eqsf2)(float_bits a, float_bits b) {
  return unordered(a, b) ? 1 : compare(a, b);
}

int SHIM(__nesf2)(float_bits a, float_bits b) {
  return unordered(a, b) ? 1 : compare(a, b);
}

int SHIM(__ltsf2)(float_bits a, float_bits b) {
  return unordered(a, b) ? 1 : compare(a, b);
}

int SHIM(__lesf2)(float_bits a, float_bits b) {
  return unordered(a, b) ? 1 : compare(a, b);
}

int SHIM(__gesf2)(float_bits a, float_bits b) {
  return unordered(a, b) ? -1 : compare(a, b);
}

int SHIM(__gtsf2)(float_bits a, float_bits b) {
  return unordered(a, b) ? -1 : compare(a, b);
}

int SHIM(__unordsf2)(float_bits a, float_bits b) {
  return unordered(a, b);
}

#endif
