/* SPDX-License-Identifier: Apache-2.0 */
#include "kiln_ed25519.h"

#include "kiln_field25519.h"

/* A point of the curve -x^2 + y^2 = 1 + d x^2 y^2 in extended coordinates: x = X/Z, y = Y/Z, T = XY/Z. */
struct point {
  kiln_number x;
  kiln_number y;
  kiln_number z;
  kiln_number t;
};

/* The order of the base point. */
static const kiln_number order = {0x5cf5d3edu, 0x5812631au, 0xa2f79cd6u, 0x14def9deu, 0u, 0u, 0u, 0x10000000u};

static const kiln_number curve_d = {0x135978a3u, 0x75eb4dcau, 0x4141d8abu, 0x00700a4du,
                                    0x7779e898u, 0x8cc74079u, 0x2b6ffe73u, 0x52036ceeu};

static const kiln_number root_of_minus_one = {0x4a0ea0b0u, 0xc4ee1b27u, 0xad2fe478u, 0x2f431806u,
                                              0x3dfbd7a7u, 0x2b4d0099u, 0x4fc1df0bu, 0x2b832480u};

static const struct point base = {
    {0x8f25d51au, 0xc9562d60u, 0x9525a7b2u, 0x692cc760u, 0xfdd6dc5cu, 0xc0a4e231u, 0xcd6e53feu, 0x216936d3u},
    {0x66666658u, 0x66666666u, 0x66666666u, 0x66666666u, 0x66666666u, 0x66666666u, 0x66666666u, 0x66666666u},
    {1u, 0u, 0u, 0u, 0u, 0u, 0u, 0u},
    {0xa5b7dda3u, 0x6dde8ab3u, 0x775152f5u, 0x20f09f80u, 0x64abe37du, 0x66ea4e8eu, 0xd78b7665u, 0x67875f0fu},
};

static const struct point neutral = {{0u}, {1u}, {1u}, {0u}};

/* The sum of two points. The formula is complete: it holds for equal points, too (Hisil, Wong, Carter, Dawson 2008). */
static void add_points(struct point* out, const struct point* p, const struct point* q) {
  kiln_number a;
  kiln_number b;
  kiln_number c;
  kiln_number d;
  kiln_number e;
  kiln_field_subtract(a, p->y, p->x);
  kiln_field_subtract(b, q->y, q->x);
  kiln_field_multiply(a, a, b);
  kiln_field_add(b, p->y, p->x);
  kiln_field_add(c, q->y, q->x);
  kiln_field_multiply(b, b, c);
  kiln_field_multiply(c, p->t, q->t);
  kiln_field_multiply(c, c, curve_d);
  kiln_field_add(c, c, c);
  kiln_field_multiply(d, p->z, q->z);
  kiln_field_add(d, d, d);
  kiln_field_subtract(e, b, a);
  kiln_field_add(b, b, a);
  kiln_field_subtract(a, d, c);
  kiln_field_add(d, d, c);
  kiln_field_multiply(out->x, e, a);
  kiln_field_multiply(out->y, b, d);
  kiln_field_multiply(out->t, e, b);
  kiln_field_multiply(out->z, a, d);
}

/* The negative of an encoded point. Returns 0 if the bytes do not encode a point or y is not reduced. */
static int load_negative(struct point* out, const uint8_t* bytes) {
  /* (p - 5) / 8 */
  static const kiln_number exponent = {0xfffffffdu, 0xffffffffu, 0xffffffffu, 0xffffffffu,
                                     0xffffffffu, 0xffffffffu, 0xffffffffu, 0x0fffffffu};
  static const kiln_number one = {1u};
  static const kiln_number zero = {0u};
  kiln_number u;
  kiln_number v;
  kiln_number x;
  kiln_number check;
  unsigned sign = bytes[31] >> 7;
  kiln_number_load(out->y, bytes);
  out->y[7] &= 0x7fffffffu;
  if (!kiln_number_is_below(out->y, kiln_field_prime)) {
    return 0;
  }
  kiln_field_multiply(u, out->y, out->y);
  kiln_field_multiply(v, u, curve_d);
  kiln_field_subtract(u, u, one);
  kiln_field_add(v, v, one);
  /* x = u v^3 (u v^7)^((p - 5) / 8), or that times the root of -1. */
  kiln_field_multiply(x, v, v);
  kiln_field_multiply(x, x, v);
  kiln_field_multiply(check, x, x);
  kiln_field_multiply(check, check, v);
  kiln_field_multiply(check, check, u);
  kiln_field_power(check, check, exponent);
  kiln_field_multiply(x, x, u);
  kiln_field_multiply(x, x, check);
  kiln_field_multiply(check, x, x);
  kiln_field_multiply(check, check, v);
  if (!kiln_field_is_equal(check, u)) {
    kiln_field_multiply(x, x, root_of_minus_one);
    kiln_field_multiply(check, x, x);
    kiln_field_multiply(check, check, v);
    if (!kiln_field_is_equal(check, u)) {
      return 0;
    }
  }
  kiln_field_reduce(x);
  if (kiln_field_is_zero(x) && sign != 0u) {
    return 0;
  }
  if ((x[0] & 1u) == sign) {
    kiln_field_subtract(x, zero, x);
  }
  kiln_number_copy(out->x, x);
  kiln_number_copy(out->z, one);
  kiln_field_multiply(out->t, out->x, out->y);
  return 1;
}

static void store(uint8_t* bytes, const struct point* p) {
  /* p - 2 */
  static const kiln_number exponent = {0xffffffebu, 0xffffffffu, 0xffffffffu, 0xffffffffu,
                                     0xffffffffu, 0xffffffffu, 0xffffffffu, 0x7fffffffu};
  kiln_number inverse;
  kiln_number x;
  kiln_number y;
  kiln_field_power(inverse, p->z, exponent);
  kiln_field_multiply(x, p->x, inverse);
  kiln_field_multiply(y, p->y, inverse);
  kiln_field_reduce(x);
  kiln_field_reduce(y);
  y[7] |= x[0] << 31;
  for (unsigned i = 0; i < 4u * KILN_NUMBER_WORDS; ++i) {
    bytes[i] = (uint8_t)(y[i / 4u] >> (8u * (i % 4u)));
  }
}

static int has_small_order(const struct point* p) {
  struct point multiple = *p;
  for (unsigned i = 0; i < 3u; ++i) {
    add_points(&multiple, &multiple, &multiple);
  }
  return kiln_field_is_zero(multiple.x) && kiln_field_is_equal(multiple.y, multiple.z);
}

/* A number of 64 bytes modulo the order, bit by bit. */
static void load_modulo_order(kiln_number out, const uint8_t* bytes) {
  static const kiln_number zero = {0u};
  kiln_number_copy(out, zero);
  for (unsigned i = 512; i-- > 0u;) {
    uint32_t carry = (uint32_t)bytes[i / 8u] >> (i % 8u) & 1u;
    for (unsigned k = 0; k < KILN_NUMBER_WORDS; ++k) {
      uint32_t top = out[k] >> 31;
      out[k] = out[k] << 1 | carry;
      carry = top;
    }
    if (!kiln_number_is_below(out, order)) {
      (void)kiln_number_subtract(out, out, order);
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
  kiln_number s;
  kiln_number k;
  unsigned different = 0;
  kiln_sha512_end(&check->digest, bytes);
  kiln_number_load(s, check->signature + 32);
  if (!kiln_number_is_below(s, order) || !load_negative(&key, check->key) || has_small_order(&key)) {
    return 0;
  }
  load_modulo_order(k, bytes);
  add_points(&both, &base, &key);
  /* s B - k A is R if the signature is right. */
  for (unsigned i = 253; i-- > 0u;) {
    add_points(&sum, &sum, &sum);
    unsigned which = kiln_number_bit(s, i) | kiln_number_bit(k, i) << 1;
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
