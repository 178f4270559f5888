/* SPDX-License-Identifier: Apache-2.0
 *
 * Holds the shims against this computer's arithmetic and C library, bit for bit, on edge cases and seeded random ones. Prints the first
 * differences and ends with their number.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kiln_shims.h"

#define ROUNDS 1000000

static unsigned long failures;
static uint64_t state = 20260101u;

static uint64_t next64(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static void fail(const char* what, uint64_t a, uint64_t b, uint64_t got, uint64_t expected) {
  if (failures++ < 20u) {
    printf("%s(%llx, %llx) = %llx, expected %llx\n", what, (unsigned long long)a, (unsigned long long)b,
           (unsigned long long)got, (unsigned long long)expected);
  }
}

static void check(const char* what, uint64_t a, uint64_t b, uint64_t got, uint64_t expected) {
  if (got != expected) {
    fail(what, a, b, got, expected);
  }
}

static float to_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t to_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static void check_float(const char* what, uint32_t a, uint32_t b, uint32_t got, float expected) {
  if (!(isnan(expected) && isnan(to_float(got)))) {
    check(what, a, b, got, to_bits(expected));
  }
}

static void arithmetic(uint32_t a, uint32_t b) {
  float x = to_float(a);
  float y = to_float(b);
  check_float("add", a, b, SHIM(__addsf3)(a, b), x + y);
  check_float("sub", a, b, SHIM(__subsf3)(a, b), x - y);
  check_float("mul", a, b, SHIM(__mulsf3)(a, b), x * y);
  check_float("div", a, b, SHIM(__divsf3)(a, b), x / y);
  if (!isnan(x) && !isnan(y)) {
    check_float("fmod", a, b, to_bits(SHIM(fmodf)(x, y)), fmodf(x, y));
  }
  check("eq", a, b, SHIM(__eqsf2)(a, b) == 0, x == y);
  check("ne", a, b, SHIM(__nesf2)(a, b) != 0, x != y);
  check("lt", a, b, SHIM(__ltsf2)(a, b) < 0, x < y);
  check("le", a, b, SHIM(__lesf2)(a, b) <= 0, x <= y);
  check("gt", a, b, SHIM(__gtsf2)(a, b) > 0, x > y);
  check("ge", a, b, SHIM(__gesf2)(a, b) >= 0, x >= y);
  check("unord", a, b, SHIM(__unordsf2)(a, b) != 0, isnan(x) || isnan(y));
}

/* Within a millionth; below the least normal number, within it. */
static void check_near(const char* what, uint32_t a, float got, double expected) {
  double apart = (double)got - expected;
  double limit = 1e-6 * fabs(expected) + 1.2e-38;
  int same = isnan(expected) ? isnan(got) : (isinf(expected) ? (double)got == expected : fabs(apart) <= limit);
  if (!same) {
    fail(what, a, 0, to_bits(got), to_bits((float)expected));
  }
}

static void functions(uint32_t a) {
  float x = to_float(a);
  check_float("trunc", a, 0, to_bits(SHIM(truncf)(x)), truncf(x));
  check_float("floor", a, 0, to_bits(SHIM(floorf)(x)), floorf(x));
  check_float("ceil", a, 0, to_bits(SHIM(ceilf)(x)), ceilf(x));
  check_float("round", a, 0, to_bits(SHIM(roundf)(x)), roundf(x));
  check_float("rint", a, 0, to_bits(SHIM(rintf)(x)), rintf(x));
  check_float("sqrt", a, 0, to_bits(SHIM(sqrtf)(x)), sqrtf(x));
  check_float("fabs", a, 0, to_bits(SHIM(fabsf)(x)), fabsf(x));
  check_near("log", a, SHIM(logf)(x), log((double)x));
  check_near("sin", a, SHIM(sinf)(x), sin((double)x));
  check_near("cos", a, SHIM(cosf)(x), cos((double)x));
  check_near("tanh", a, SHIM(tanhf)(x), tanh((double)x));
  check_near("erf", a, SHIM(erff)(x), erf((double)x));
  if (!(x > 88.0f)) {
    check_near("expm1", a, SHIM(expm1f)(x), expm1((double)x));
  }
  if (!isnan(x)) {
    float got = SHIM(expf)(x);
    float expected = (float)exp((double)x);
    int64_t apart = (int64_t)to_bits(got) - (int64_t)to_bits(expected);
    if (apart < -1 || apart > 1) {
      fail("exp", a, 0, to_bits(got), to_bits(expected));
    }
  }
  if (fabsf(x) < 2147483648.0f) {
    check("fixsfsi", a, 0, (uint32_t)SHIM(__fixsfsi)(a), (uint32_t)(int32_t)x);
    check("lround", a, 0, (uint64_t)SHIM(lroundf)(x), (uint64_t)lroundf(x));
    check("lrint", a, 0, (uint64_t)SHIM(lrintf)(x), (uint64_t)lrintf(x));
  }
  if (x >= 0 && x < 4294967296.0f) {
    check("fixunssfsi", a, 0, SHIM(__fixunssfsi)(a), (uint32_t)x);
  }
  if (fabsf(x) < 9223372036854775808.0f) {
    check("fixsfdi", a, 0, (uint64_t)SHIM(__fixsfdi)(a), (uint64_t)(int64_t)x);
  }
  if (x >= 0 && x < 18446744073709551616.0f) {
    check("fixunssfdi", a, 0, SHIM(__fixunssfdi)(a), (uint64_t)x);
  }
}

static void integers(uint64_t a, uint64_t b) {
  uint32_t a32 = (uint32_t)a;
  uint32_t b32 = (uint32_t)b;
  int shift = (int)(b & 63u);
  check_float("floatsisf", a32, 0, SHIM(__floatsisf)((int32_t)a32), (float)(int32_t)a32);
  check_float("floatunsisf", a32, 0, SHIM(__floatunsisf)(a32), (float)a32);
  check_float("floatdisf", (uint32_t)(a >> 32), a32, SHIM(__floatdisf)((int64_t)a), (float)(int64_t)a);
  check_float("floatundisf", (uint32_t)(a >> 32), a32, SHIM(__floatundisf)(a), (float)a);
  check("mul64", a, b, (uint64_t)SHIM(__muldi3)((int64_t)a, (int64_t)b), a * b);
  check("shl64", a, (uint64_t)shift, (uint64_t)SHIM(__ashldi3)((int64_t)a, shift), a << shift);
  check("shr64", a, (uint64_t)shift, (uint64_t)SHIM(__lshrdi3)((int64_t)a, shift), a >> shift);
  check("sar64", a, (uint64_t)shift, (uint64_t)SHIM(__ashrdi3)((int64_t)a, shift), (uint64_t)((int64_t)a >> shift));
  if (b32 != 0u) {
    check("mul32", a32, b32, SHIM(__mulsi3)(a32, b32), (uint32_t)(a32 * b32));
    check("udiv32", a32, b32, SHIM(__udivsi3)(a32, b32), a32 / b32);
    check("umod32", a32, b32, SHIM(__umodsi3)(a32, b32), a32 % b32);
    if (!(a32 == 0x80000000u && b32 == UINT32_MAX)) {
      check("div32", a32, b32, (uint32_t)SHIM(__divsi3)((int32_t)a32, (int32_t)b32), (uint32_t)((int32_t)a32 / (int32_t)b32));
      check("mod32", a32, b32, (uint32_t)SHIM(__modsi3)((int32_t)a32, (int32_t)b32), (uint32_t)((int32_t)a32 % (int32_t)b32));
    }
    check("clz", b32, 0, (uint64_t)SHIM(__clzsi2)(b32), (uint64_t)__builtin_clz(b32));
    check("ctz", b32, 0, (uint64_t)SHIM(__ctzsi2)(b32), (uint64_t)__builtin_ctz(b32));
  }
  if (b != 0u) {
    check("udiv64", a, b, SHIM(__udivdi3)(a, b), a / b);
    check("umod64", a, b, SHIM(__umoddi3)(a, b), a % b);
    check("clz64", b, 0, (uint64_t)SHIM(__clzdi2)(b), (uint64_t)__builtin_clzll(b));
    if (!(a == 1ull << 63 && b == UINT64_MAX)) {
      check("div64", a, b, (uint64_t)SHIM(__divdi3)((int64_t)a, (int64_t)b), (uint64_t)((int64_t)a / (int64_t)b));
      check("mod64", a, b, (uint64_t)SHIM(__moddi3)((int64_t)a, (int64_t)b), (uint64_t)((int64_t)a % (int64_t)b));
    }
  }
}

static void memories(void) {
  enum { SIZE = 96 };
  uint8_t ours[SIZE];
  uint8_t theirs[SIZE];
  for (int i = 0; i < SIZE; ++i) {
    ours[i] = theirs[i] = (uint8_t)next64();
  }
  size_t from = next64() % 32u;
  size_t to = next64() % 32u;
  size_t bytes = next64() % 33u;
  switch (next64() % 3u) {
    case 0:
      SHIM(memmove)(ours + to, ours + from, bytes);
      memmove(theirs + to, theirs + from, bytes);
      break;
    case 1:
      SHIM(memset)(ours + to, (int)from, bytes);
      memset(theirs + to, (int)from, bytes);
      break;
    default:
      SHIM(memcpy)(ours + 64 - bytes / 2u, ours + from % 16u, bytes);
      memcpy(theirs + 64 - bytes / 2u, theirs + from % 16u, bytes);
      break;
  }
  check("memory", from, to, (uint64_t)(memcmp(ours, theirs, SIZE) == 0), 1);
  theirs[to] ^= (uint8_t)(from & 1u);
  int a = SHIM(memcmp)(ours, theirs, SIZE);
  int b = memcmp(ours, theirs, SIZE);
  check("memcmp", from, to, (uint64_t)((a > 0) - (a < 0)), (uint64_t)((b > 0) - (b < 0)));
}

static void texts(void) {
  char copy[8] = "#######";
  check("strlen", 0, 0, SHIM(strlen)("kiln"), 4);
  check("strcmp", 0, 0, SHIM(strcmp)("kiln", "kiln") == 0 && SHIM(strcmp)("a", "b") < 0 && SHIM(strcmp)("ab", "a") > 0, 1);
  check("strncmp", 0, 0, SHIM(strncmp)("kiln", "kilo", 3) == 0 && SHIM(strncmp)("kiln", "kilo", 4) < 0, 1);
  check("strcpy", 0, 0, strcmp(SHIM(strcpy)(copy, "abc"), "abc") == 0, 1);
  check("strncpy", 0, 0, memcmp(SHIM(strncpy)(copy, "de", 5), "de\0\0\0##", 7) == 0, 1);
  check("strchr", 0, 0, *SHIM(strchr)("kiln", 'l') == 'l' && SHIM(strchr)("kiln", 'x') == 0, 1);
  check("memchr", 0, 0, *(char*)SHIM(memchr)("kiln", 'n', 4) == 'n' && SHIM(memchr)("kiln", 'n', 3) == 0, 1);
  check("abs", 0, 0, SHIM(abs)(-3) == 3 && SHIM(labs)(-4) == 4, 1);
  check("max", 0, 0, SHIM(fmaxf)(1, 2) == 2 && SHIM(fminf)(1, 2) == 1 && SHIM(fmaxf)(NAN, 2) == 2 && SHIM(fminf)(1, NAN) == 1, 1);
}

int main(void) {
  static const uint32_t edges[] = {
      0u,          1u,          2u,          0x7fffffu,   0x800000u,   0x800001u,   0xffffffu,   0x1000000u,
      0x3effffffu, 0x3f000000u, 0x3f000001u, 0x3f7fffffu, 0x3f800000u, 0x3f800001u, 0x3fc00000u, 0x40000000u,
      0x40200000u, 0x4affffffu, 0x4b000000u, 0x4b7fffffu, 0x4b800000u, 0x4effffffu, 0x4f000000u, 0x4f7fffffu,
      0x4f800000u, 0x5effffffu, 0x5f000000u, 0x5f7fffffu, 0x7effffffu, 0x7f000000u, 0x7f7fffffu, 0x7f800000u,
      0x7f800001u, 0x7fc00000u, 0x42b17217u, 0x42b17218u, 0x42cff1b4u, 0x42cff1b5u};
  enum { EDGES = sizeof edges / sizeof edges[0] };
  for (unsigned i = 0; i < 2u * EDGES; ++i) {
    uint32_t a = edges[i / 2u] | (i % 2u) << 31;
    functions(a);
    for (unsigned j = 0; j < 2u * EDGES; ++j) {
      uint32_t b = edges[j / 2u] | (j % 2u) << 31;
      arithmetic(a, b);
      integers((uint64_t)a << 32 | b, (uint64_t)b << (j % 33u));
      integers(a, b);
    }
  }
  for (int round = 0; round < ROUNDS; ++round) {
    uint64_t a = next64();
    uint64_t b = next64();
    uint32_t x = (uint32_t)a;
    uint32_t y = (uint32_t)b;
    arithmetic(x, y);
    /* Exponents that lie close to each other, where cancellation happens. */
    arithmetic(x, (x & 0xff800000u) + (y & 0x81ffffffu));
    functions(x);
    functions((x & 0x80ffffffu) + 0x3c000000u + (y & 0x7000000u));
    integers(a >> (y & 63u), b >> (x & 63u));
    memories();
  }
  texts();
  printf("%lu differences\n", failures);
  return failures == 0u ? 0 : 1;
}
