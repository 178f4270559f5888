/* SPDX-License-Identifier: Apache-2.0 */
#include "kiln_field25519.h"

#define FOLD 38u

const kiln_number kiln_field_prime = {0xffffffedu, 0xffffffffu, 0xffffffffu, 0xffffffffu,
                                      0xffffffffu, 0xffffffffu, 0xffffffffu, 0x7fffffffu};

void kiln_number_copy(kiln_number to, const kiln_number from) {
  for (unsigned i = 0; i < KILN_NUMBER_WORDS; ++i) {
    to[i] = from[i];
  }
}

void kiln_number_load(kiln_number out, const uint8_t* bytes) {
  for (unsigned i = 0; i < KILN_NUMBER_WORDS; ++i) {
    const uint8_t* at = bytes + 4u * i;
    out[i] = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
  }
}

/* a - b; returns 1 if b is greater. */
uint32_t kiln_number_subtract(kiln_number out, const kiln_number a, const kiln_number b) {
  uint32_t borrow = 0;
  for (unsigned i = 0; i < KILN_NUMBER_WORDS; ++i) {
    uint64_t difference = (uint64_t)a[i] - b[i] - borrow;
    out[i] = (uint32_t)difference;
    borrow = (uint32_t)(difference >> 63);
  }
  return borrow;
}

int kiln_number_is_below(const kiln_number a, const kiln_number b) {
  kiln_number rest;
  return kiln_number_subtract(rest, a, b) != 0u;
}

unsigned kiln_number_bit(const kiln_number a, unsigned at) {
  return a[at / 32u] >> (at % 32u) & 1u;
}

/* Adds carry * 2^256, which is carry * 38, until nothing is carried any more. */
static void fold(kiln_number value, uint32_t carry) {
  while (carry != 0u) {
    uint64_t sum = (uint64_t)carry * FOLD;
    for (unsigned i = 0; i < KILN_NUMBER_WORDS; ++i) {
      sum += value[i];
      value[i] = (uint32_t)sum;
      sum >>= 32;
    }
    carry = (uint32_t)sum;
  }
}

void kiln_field_add(kiln_number out, const kiln_number a, const kiln_number b) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < KILN_NUMBER_WORDS; ++i) {
    sum += (uint64_t)a[i] + b[i];
    out[i] = (uint32_t)sum;
    sum >>= 32;
  }
  fold(out, (uint32_t)sum);
}

void kiln_field_subtract(kiln_number out, const kiln_number a, const kiln_number b) {
  static const kiln_number small = {FOLD};
  uint32_t borrow = kiln_number_subtract(out, a, b);
  while (borrow != 0u) {
    borrow = kiln_number_subtract(out, out, small);
  }
}

void kiln_field_multiply(kiln_number out, const kiln_number a, const kiln_number b) {
  uint32_t product[2u * KILN_NUMBER_WORDS] = {0};
  uint64_t sum = 0;
  for (unsigned i = 0; i < KILN_NUMBER_WORDS; ++i) {
    uint64_t carry = 0;
    for (unsigned k = 0; k < KILN_NUMBER_WORDS; ++k) {
      carry += (uint64_t)a[i] * b[k] + product[i + k];
      product[i + k] = (uint32_t)carry;
      carry >>= 32;
    }
    product[i + KILN_NUMBER_WORDS] = (uint32_t)carry;
  }
  for (unsigned i = 0; i < KILN_NUMBER_WORDS; ++i) {
    sum += (uint64_t)product[i + KILN_NUMBER_WORDS] * FOLD + product[i];
    out[i] = (uint32_t)sum;
    sum >>= 32;
  }
  fold(out, (uint32_t)sum);
}

void kiln_field_reduce(kiln_number value) {
  kiln_number less;
  while (kiln_number_subtract(less, value, kiln_field_prime) == 0u) {
    kiln_number_copy(value, less);
  }
}

int kiln_field_is_zero(const kiln_number a) {
  kiln_number value;
  uint32_t any = 0;
  kiln_number_copy(value, a);
  kiln_field_reduce(value);
  for (unsigned i = 0; i < KILN_NUMBER_WORDS; ++i) {
    any |= value[i];
  }
  return any == 0u;
}

int kiln_field_is_equal(const kiln_number a, const kiln_number b) {
  kiln_number difference;
  kiln_field_subtract(difference, a, b);
  return kiln_field_is_zero(difference);
}

void kiln_field_power(kiln_number out, const kiln_number a, const kiln_number exponent) {
  kiln_number result = {1u};
  for (unsigned i = 255; i-- > 0u;) {
    kiln_field_multiply(result, result, result);
    if (kiln_number_bit(exponent, i) != 0u) {
      kiln_field_multiply(result, result, a);
    }
  }
  kiln_number_copy(out, result);
}
