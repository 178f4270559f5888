/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers have eight words of 32 bits, the least significant first. Elements of the field are kept below 2^256 and are reduced modulo
 * p = 2^255 - 19 only before comparisons: modulo p, 2^256 is 38.
 */
#include "kiln_ed25519.h"

#define WORDS 8u
#define FOLD 38u

typedef uint32_t number[WORDS];

/* A point of the curve -x^2 + y^2 = 1 + d x^2 y^2 in extended coordinates: x = X/Z, y = Y/Z, T = XY/Z. */
struct point {
  number x;
  number y;
  number z;
  number t;
};

static const number prime = {0xffffffedu, 0xffffffffu, 0xffffffffu, 0xffffffffu,
                             0xffffffffu, 0xffffffffu, 0xffffffffu, 0x7fffffffu};

/* The order of the base point. */
static const number order = {0x5cf5d3edu, 0x5812631au, 0xa2f79cd6u, 0x14def9deu, 0u, 0u, 0u, 0x10000000u};

static const number curve_d = {0x135978a3u, 0x75eb4dcau, 0x4141d8abu, 0x00700a4du,
                               0x7779e898u, 0x8cc74079u, 0x2b6ffe73u, 0x52036ceeu};

static const number root_of_minus_one = {0x4a0ea0b0u, 0xc4ee1b27u, 0xad2fe478u, 0x2f431806u,
                                         0x3dfbd7a7u, 0x2b4d0099u, 0x4fc1df0bu, 0x2b832480u};

static const struct point base = {
    {0x8f25d51au, 0xc9562d60u, 0x9525a7b2u, 0x692cc760u, 0xfdd6dc5cu, 0xc0a4e231u, 0xcd6e53feu, 0x216936d3u},
    {0x66666658u, 0x66666666u, 0x66666666u, 0x66666666u, 0x66666666u, 0x66666666u, 0x66666666u, 0x66666666u},
    {1u, 0u, 0u, 0u, 0u, 0u, 0u, 0u},
    {0xa5b7dda3u, 0x6dde8ab3u, 0x775152f5u, 0x20f09f80u, 0x64abe37du, 0x66ea4e8eu, 0xd78b7665u, 0x67875f0fu},
};

static const struct point neutral = {{0u}, {1u}, {1u}, {0u}};

static void copy(number to, const number from) {
  for (unsigned i = 0; i < WORDS; ++i) {
    to[i] = from[i];
  }
}

static void load(number out, const uint8_t* bytes) {
  for (unsigned i = 0; i < WORDS; ++i) {
    const uint8_t* at = bytes + 4u * i;
    out[i] = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
  }
}

/* a - b; returns 1 if b is greater. */
static uint32_t subtracted(number out, const number a, const number b) {
  uint32_t borrow = 0;
  for (unsigned i = 0; i < WORDS; ++i) {
    uint64_t difference = (uint64_t)a[i] - b[i] - borrow;
    out[i] = (uint32_t)difference;
    borrow = (uint32_t)(difference >> 63);
  }
  return borrow;
}

static int is_below(const number a, const number b) {
  number rest;
  return subtracted(rest, a, b) != 0u;
}

/* Adds carry * 2^256, which is carry * 38, until nothing is carried any more. */
static void fold(number value, uint32_t carry) {
  while (carry != 0u) {
    uint64_t sum = (uint64_t)carry * FOLD;
    for (unsigned i = 0; i < WORDS; ++i) {
      sum += value[i];
      value[i] = (uint32_t)sum;
      sum >>= 32;
    }
    carry = (uint32_t)sum;
  }
}

static void add(number out, const number a, const number b) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < WORDS; ++i) {
    sum += (uint64_t)a[i] + b[i];
    out[i] = (uint32_t)sum;
    sum >>= 32;
  }
  fold(out, (uint32_t)sum);
}

static void subtract(number out, const number a, const number b) {
  static const number small = {FOLD};
  uint32_t borrow = subtracted(out, a, b);
  while (borrow != 0u) {
    borrow = subtracted(out, out, small);
  }
}

static void multiply(number out, const number a, const number b) {
  uint32_t product[2u * WORDS] = {0};
  uint64_t sum = 0;
  for (unsigned i = 0; i < WORDS; ++i) {
    uint64_t carry = 0;
    for (unsigned k = 0; k < WORDS; ++k) {
      carry += (uint64_t)a[i] * b[k] + product[i + k];
      product[i + k] = (uint32_t)carry;
      carry >>= 32;
    }
    product[i + WORDS] = (uint32_t)carry;
  }
  for (unsigned i = 0; i < WORDS; ++i) {
    sum += (uint64_t)product[i + WORDS] * FOLD + product[i];
    out[i] = (uint32_t)sum;
    sum >>= 32;
  }
  fold(out, (uint32_t)sum);
}

static void reduce(number value) {
  number less;
  while (subtracted(less, value, prime) == 0u) {
    copy(value, less);
  }
}

static int is_zero(const number a) {
  number value;
  uint32_t any = 0;
  copy(value, a);
  reduce(value);
  for (unsigned i = 0; i < WORDS; ++i) {
    any |= value[i];
  }
  return any == 0u;
}

static int is_equal(const number a, const number b) {
  number difference;
  subtract(difference, a, b);
  return is_zero(difference);
}

static unsigned bit(const number a, unsigned at) {
  return a[at / 32u] >> (at % 32u) & 1u;
}

static void power(number out, const number a, const number exponent) {
  number result = {1u};
  for (unsigned i = 255; i-- > 0u;) {
    multiply(result, result, result);
    if (bit(exponent, i) != 0u) {
      multiply(result, result, a);
    }
  }
  copy(out, result);
}

/* The sum of two points. The formula is complete: it holds for equal points, too (Hisil, Wong, Carter, Dawson 2008). */
static void add_points(struct point* out, const struct point* p, const struct point* q) {
  number a;
  number b;
  number c;
  number d;
  number e;
  subtract(a, p->y, p->x);
  subtract(b, q->y, q->x);
  multiply(a, a, b);
  add(b, p->y, p->x);
  add(c, q->y, q->x);
  multiply(b, b, c);
  multiply(c, p->t, q->t);
  multiply(c, c, curve_d);
  add(c, c, c);
  multiply(d, p->z, q->z);
  add(d, d, d);
  subtract(e, b, a);
  add(b, b, a);
  subtract(a, d, c);
  add(d, d, c);
  multiply(out->x, e, a);
  multiply(out->y, b, d);
  multiply(out->t, e, b);
  multiply(out->z, a, d);
}

/* The negative of an encoded point. Returns 0 if the bytes do not encode a point or y is not reduced. */
static int load_negative(struct point* out, const uint8_t* bytes) {
  /* (p - 5) / 8 */
  static const number exponent = {0xfffffffdu, 0xffffffffu, 0xffffffffu, 0xffffffffu,
                                  0xffffffffu, 0xffffffffu, 0xffffffffu, 0x0fffffffu};
  static const number one = {1u};
  static const number zero = {0u};
  number u;
  number v;
  number x;
  number check;
  unsigned sign = bytes[31] >> 7;
  load(out->y, bytes);
  out->y[7] &= 0x7fffffffu;
  if (!is_below(out->y, prime)) {
    return 0;
  }
  multiply(u, out->y, out->y);
  multiply(v, u, curve_d);
  subtract(u, u, one);
  add(v, v, one);
  /* x = u v^3 (u v^7)^((p - 5) / 8), or that times the root of -1. */
  multiply(x, v, v);
  multiply(x, x, v);
  multiply(check, x, x);
  multiply(check, check, v);
  multiply(check, check, u);
  power(check, check, exponent);
  multiply(x, x, u);
  multiply(x, x, check);
  multiply(check, x, x);
  multiply(check, check, v);
  if (!is_equal(check, u)) {
    multiply(x, x, root_of_minus_one);
    multiply(check, x, x);
    multiply(check, check, v);
    if (!is_equal(check, u)) {
      return 0;
    }
  }
  reduce(x);
  if (is_zero(x) && sign != 0u) {
    return 0;
  }
  if ((x[0] & 1u) == sign) {
    subtract(x, zero, x);
  }
  copy(out->x, x);
  copy(out->z, one);
  multiply(out->t, out->x, out->y);
  return 1;
}

static void store(uint8_t* bytes, const struct point* p) {
  /* p - 2 */
  static const number exponent = {0xffffffebu, 0xffffffffu, 0xffffffffu, 0xffffffffu,
                                  0xffffffffu, 0xffffffffu, 0xffffffffu, 0x7fffffffu};
  number inverse;
  number x;
  number y;
  power(inverse, p->z, exponent);
  multiply(x, p->x, inverse);
  multiply(y, p->y, inverse);
  reduce(x);
  reduce(y);
  y[7] |= x[0] << 31;
  for (unsigned i = 0; i < 4u * WORDS; ++i) {
    bytes[i] = (uint8_t)(y[i / 4u] >> (8u * (i % 4u)));
  }
}

static int has_small_order(const struct point* p) {
  struct point multiple = *p;
  for (unsigned i = 0; i < 3u; ++i) {
    add_points(&multiple, &multiple, &multiple);
  }
  return is_zero(multiple.x) && is_equal(multiple.y, multiple.z);
}

/* A number of 64 bytes modulo the order, bit by bit. */
static void load_modulo_order(number out, const uint8_t* bytes) {
  static const number zero = {0u};
  copy(out, zero);
  for (unsigned i = 512; i-- > 0u;) {
    uint32_t carry = (uint32_t)bytes[i / 8u] >> (i % 8u) & 1u;
    for (unsigned k = 0; k < WORDS; ++k) {
      uint32_t top = out[k] >> 31;
      out[k] = out[k] << 1 | carry;
      carry = top;
    }
    if (!is_below(out, order)) {
      (void)subtracted(out, out, order);
    }
  }
}

void kiln_ed25519_begin(struct kiln_ed25519* check, const uint8_t* key, const uint8_t* signature) {
  check->key = key;
  check->signature = signature;
  kiln_sha512_begin(&check->digest);
  kiln_sha512_add(&check->digest, signature, 32);
  kiln_sha512_add(&check->digest, key, KILN_ED25519_KEY_BYTES);
}

void kiln_ed25519_add(struct kiln_ed25519* check, const uint8_t* message, size_t bytes) {
  kiln_sha512_add(&check->digest, message, bytes);
}

int kiln_ed25519_end(struct kiln_ed25519* check) {
  uint8_t bytes[KILN_SHA512_BYTES];
  struct point key;
  struct point both;
  struct point sum = neutral;
  const struct point* const addends[4] = {&neutral, &base, &key, &both};
  number s;
  number k;
  unsigned different = 0;
  kiln_sha512_end(&check->digest, bytes);
  load(s, check->signature + 32);
  if (!is_below(s, order) || !load_negative(&key, check->key) || has_small_order(&key)) {
    return 0;
  }
  load_modulo_order(k, bytes);
  add_points(&both, &base, &key);
  /* s B - k A is R if the signature is right. */
  for (unsigned i = 253; i-- > 0u;) {
    add_points(&sum, &sum, &sum);
    unsigned which = bit(s, i) | bit(k, i) << 1;
    if (which != 0u) {
      add_points(&sum, &sum, addends[which]);
    }
  }
  if (has_small_order(&sum)) {
    return 0;
  }
  store(bytes, &sum);
  for (unsigned i = 0; i < 32u; ++i) {
    different |= (unsigned)(bytes[i] ^ check->signature[i]);
  }
  return different == 0u;
}
