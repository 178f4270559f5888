/* SPDX-License-Identifier: Apache-2.0
 *
 * Quotients by integers alone are those of this computer's doubles, bit for bit.
 */
#include <tvm/runtime/crt/internal/timer/quotient.h>

#include "check.h"

#define CASES 200000u

static uint64_t state = 88172645463325252u;

static uint64_t draw(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static void expect(uint64_t dividend, uint32_t divisor) {
  double wanted = (double)dividend / (double)divisor;
  EXPECT(TVMQuotient(dividend, 0, divisor) == wanted);
  EXPECT(TVMQuotient(dividend, -70, divisor) * 1180591620717411303424.0 == wanted); /* 2^70 */
}

int main(void) {
  expect(0, 1);
  expect(1, UINT32_MAX);
  expect(UINT32_MAX, UINT32_MAX);
  expect(((uint64_t)1 << 53) - 1u, 1);
  expect(((uint64_t)1 << 53) - 1u, 2);
  for (uint32_t i = 0; i < CASES; ++i) {
    uint64_t dividend = draw() >> 11 >> i % 53u; /* Doubles hold it exactly. */
    uint32_t divisor = (uint32_t)(draw() >> 32) >> i % 31u;
    expect(dividend, divisor == 0u ? 1u : divisor);
  }
  for (uint32_t i = 0; i < CASES; ++i) {
    uint64_t whole = draw();
    EXPECT(TVMQuotient(whole, 0, 1) == (double)whole); /* rounded as a conversion is */
  }
  return 0;
}
