/* SPDX-License-Identifier: Apache-2.0
 *
 * Integer helpers that compilers call where a core has no instruction: multiplication, 64-bit multiplication, shifts and division, 32-bit
 * division, counting leading zeros. Division by zero yields the largest value, as on cores that divide without a trap. Each is built from shifts, adds and
 * 32-bit multiplication, so that none of them calls itself.
 */
#include <stdint.h>

#include "kiln_shims.h"

static uint32_t low(uint64_t value) {
  return (uint32_t)value;
}

static uint32_t high(uint64_t value) {
  union {
    uint64_t whole;
    uint32_t half[2];
  } parts = {value};
  return parts.half[1];
}

static uint64_t join(uint32_t upper, uint32_t lower) {
  union {
    uint32_t half[2];
    uint64_t whole;
  } parts = {{lower, upper}};
  return parts.whole;
}

/* Bit by bit, for cores that do not multiply. */
uint32_t SHIM(__mulsi3)(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (; b != 0u; b >>= 1) {
    product += (b & 1u) != 0u ? a : 0u;
    a <<= 1;
  }
  return product;
}

/* 32 x 32 bits to 64 by four products of 16 x 16, whose sums cannot overflow. */
static uint64_t multiply(uint32_t a, uint32_t b) {
  uint32_t al = a & 0xffffu;
  uint32_t ah = a >> 16;
  uint32_t bl = b & 0xffffu;
  uint32_t bh = b >> 16;
  uint32_t lowest = al * bl;
  uint32_t middle = ah * bl + (lowest >> 16);
  uint32_t other = al * bh + (middle & 0xffffu);
  return join(ah * bh + (middle >> 16) + (other >> 16), (other << 16) | (lowest & 0xffffu));
}

int64_t BUILTIN(lmul, __muldi3)(int64_t a, int64_t b) {
  uint64_t x = (uint64_t)a;
  uint64_t y = (uint64_t)b;
  uint64_t product = multiply(low(x), low(y));
  return (int64_t)join(high(product) + low(x) * high(y) + high(x) * low(y), low(product));
}

int64_t BUILTIN(llsl, __ashldi3)(int64_t value, int shift) {
  uint32_t h = high((uint64_t)value);
  uint32_t l = low((uint64_t)value);
  uint32_t by = (uint32_t)shift & 63u;
  if (by >= 32u) {
    return (int64_t)join(l << (by - 32u), 0);
  }
  return by == 0u ? value : (int64_t)join((h << by) | (l >> (32u - by)), l << by);
}

int64_t BUILTIN(llsr, __lshrdi3)(int64_t value, int shift) {
  uint32_t h = high((uint64_t)value);
  uint32_t l = low((uint64_t)value);
  uint32_t by = (uint32_t)shift & 63u;
  if (by >= 32u) {
    return (int64_t)join(0, h >> (by - 32u));
  }
  return by == 0u ? value : (int64_t)join(h >> by, (l >> by) | (h << (32u - by)));
}

int64_t BUILTIN(lasr, __ashrdi3)(int64_t value, int shift) {
  int32_t h = (int32_t)high((uint64_t)value);
  uint32_t l = low((uint64_t)value);
  uint32_t by = (uint32_t)shift & 63u;
  if (by >= 32u) {
    return (int64_t)join((uint32_t)(h >> 31), (uint32_t)(h >> (by - 32u)));
  }
  return by == 0u ? value : (int64_t)join((uint32_t)(h >> by), (l >> by) | ((uint32_t)h << (32u - by)));
}

int SHIM(__clzsi2)(uint32_t value) {
  int zeros = 0;
  for (uint32_t step = 16; step != 0u; step >>= 1) {
    if ((value >> (32u - step)) == 0u) {
      zeros += (int)step;
      value <<= step;
    }
  }
  return zeros + ((value >> 31) == 0u ? 1 : 0);
}

int SHIM(__ctzsi2)(uint32_t value) {
  return 31 - SHIM(__clzsi2)(value & (0u - value));
}

int SHIM(__clzdi2)(uint64_t value) {
  return high(value) != 0u ? SHIM(__clzsi2)(high(value)) : 32 + SHIM(__clzsi2)(low(value));
}

/* Long division, bit by bit, beginning at the first bit that can count. */
static uint64_t divide32(uint32_t n, uint32_t d) {
  if (d == 0u) {
    return join(n, UINT32_MAX);
  }
  uint32_t quotient = 0;
  if (n >= d) {
    int shift = SHIM(__clzsi2)(d) - SHIM(__clzsi2)(n);
    for (uint32_t part = d << shift; shift >= 0; --shift, part >>= 1) {
      quotient <<= 1;
      if (n >= part) {
        n -= part;
        quotient |= 1u;
      }
    }
  }
  return join(n, quotient);
}

static uint32_t magnitude32(int32_t value) {
  return value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
}

/* Quotient in the lower half, remainder in the upper, both signed. */
static uint64_t divide32_signed(int32_t n, int32_t d) {
  uint64_t result = divide32(magnitude32(n), magnitude32(d));
  uint32_t quotient = (n < 0) != (d < 0) ? 0u - low(result) : low(result);
  uint32_t rest = n < 0 ? 0u - high(result) : high(result);
  return join(rest, quotient);
}

uint32_t BUILTIN(uidiv, __udivsi3)(uint32_t n, uint32_t d) {
  return low(divide32(n, d));
}

int32_t BUILTIN(idiv, __divsi3)(int32_t n, int32_t d) {
  return (int32_t)low(divide32_signed(n, d));
}

uint32_t SHIM(__umodsi3)(uint32_t n, uint32_t d) {
  return high(divide32(n, d));
}

int32_t SHIM(__modsi3)(int32_t n, int32_t d) {
  return (int32_t)high(divide32_signed(n, d));
}

uint64_t SHIM(__udivmoddi4)(uint64_t n, uint64_t d, uint64_t* rest) {
  uint32_t nh = high(n);
  uint32_t nl = low(n);
  uint32_t dh = high(d);
  uint32_t dl = low(d);
  if (d == 0u) {
    *rest = n;
    return UINT64_MAX;
  }
  int shift = SHIM(__clzdi2)(d) - SHIM(__clzdi2)(n);
  uint32_t qh = 0;
  uint32_t ql = 0;
  if (n != 0u && shift >= 0) {
    uint64_t start = (uint64_t)BUILTIN(llsl, __ashldi3)((int64_t)d, shift);
    dh = high(start);
    dl = low(start);
    for (; shift >= 0; --shift) {
      qh = (qh << 1) | (ql >> 31);
      ql <<= 1;
      if (nh > dh || (nh == dh && nl >= dl)) {
        nh -= dh + (nl < dl ? 1u : 0u);
        nl -= dl;
        ql |= 1u;
      }
      dl = (dl >> 1) | (dh << 31);
      dh >>= 1;
    }
  }
  *rest = join(nh, nl);
  return join(qh, ql);
}

int64_t SHIM(__divmoddi4)(int64_t n, int64_t d, int64_t* rest) {
  uint64_t left = 0;
  uint64_t quotient = SHIM(__udivmoddi4)(
      n < 0 ? 0u - (uint64_t)n : (uint64_t)n, d < 0 ? 0u - (uint64_t)d : (uint64_t)d, &left);
  *rest = (int64_t)(n < 0 ? 0u - left : left);
  return (int64_t)((n < 0) != (d < 0) ? 0u - quotient : quotient);
}

uint64_t SHIM(__udivdi3)(uint64_t n, uint64_t d) {
  uint64_t rest;
  return SHIM(__udivmoddi4)(n, d, &rest);
}

uint64_t SHIM(__umoddi3)(uint64_t n, uint64_t d) {
  uint64_t rest;
  (void)SHIM(__udivmoddi4)(n, d, &rest);
  return rest;
}

int64_t SHIM(__divdi3)(int64_t n, int64_t d) {
  int64_t rest;
  return SHIM(__divmoddi4)(n, d, &rest);
}

int64_t SHIM(__moddi3)(int64_t n, int64_t d) {
  int64_t rest;
  (void)SHIM(__divmoddi4)(n, d, &rest);
  return rest;
}

#if defined(__arm__)

/* Quotient in r0, remainder in r1, which is how a 64-bit result is returned. */
uint64_t __aeabi_uidivmod(uint32_t n, uint32_t d) {
  return divide32(n, d);
}

uint64_t __aeabi_idivmod(int32_t n, int32_t d) {
  return divide32_signed(n, d);
}

/* Quotient in r0 and r1, remainder in r2 and r3: no C function returns so. */
#define DIVMOD_BY(function)       \
  __asm__ volatile(               \
      "push {r7, lr}\n\t"         \
      "sub sp, #16\n\t"           \
      "add r7, sp, #8\n\t"        \
      "str r7, [sp]\n\t"          \
      "bl " function "\n\t"       \
      "ldr r2, [sp, #8]\n\t"      \
      "ldr r3, [sp, #12]\n\t"     \
      "add sp, #16\n\t"           \
      "pop {r7, pc}\n\t")

__attribute__((naked)) void __aeabi_uldivmod(void) {
  DIVMOD_BY("__udivmoddi4");
}

__attribute__((naked)) void __aeabi_ldivmod(void) {
  DIVMOD_BY("__divmoddi4");
}

#endif
