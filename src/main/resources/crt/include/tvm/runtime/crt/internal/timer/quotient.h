/* SPDX-License-Identifier: Apache-2.0
 *
 * Seconds from counters, on cores and with compilers that have no arithmetic of doubles.
 */
#ifndef TVM_RUNTIME_CRT_INTERNAL_TIMER_QUOTIENT_H_
#define TVM_RUNTIME_CRT_INTERNAL_TIMER_QUOTIENT_H_

#include <stdint.h>
#include <string.h>

#define TVM_DOUBLE_FRACTION_BITS 52
#define TVM_DOUBLE_BIAS 1023

/* dividend * 2^exponent / divisor as the nearest double, the even one of two, as IEEE 754 has it. The divisor is not 0, and the result
 * 0 or between 2^-1022 and 2^1023. */
static inline double TVMQuotient(uint64_t dividend, int32_t exponent, uint32_t divisor) {
  const uint64_t most = (uint64_t)1 << (TVM_DOUBLE_FRACTION_BITS + 2); /* all bits of a double, and one to round by */
  uint64_t quotient = dividend / divisor;
  uint64_t rest = dividend % divisor;
  uint64_t bits = 0;
  double result = 0;
  if (dividend == 0u) {
    return result;
  }
  for (; quotient < most >> 1; --exponent) {
    rest <<= 1;
    quotient = quotient << 1 | (rest >= divisor);
    rest -= rest >= divisor ? divisor : 0u;
  }
  for (; quotient >= most; ++exponent) {
    rest |= quotient & 1u;
    quotient >>= 1;
  }
  uint64_t mantissa = quotient >> 1;
  mantissa += (quotient & 1u) != 0u && (rest != 0u || (mantissa & 1u) != 0u);
  /* A carry out of the mantissa adds to the exponent, and leaves zeros. */
  bits = ((uint64_t)(exponent + 1 + TVM_DOUBLE_FRACTION_BITS + TVM_DOUBLE_BIAS) << TVM_DOUBLE_FRACTION_BITS) +
         (mantissa - (most >> 2));
  memcpy(&result, &bits, sizeof(result));
  return result;
}

#endif /* TVM_RUNTIME_CRT_INTERNAL_TIMER_QUOTIENT_H_ */
