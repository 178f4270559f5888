/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of 256 bits, and the field of Curve25519 (RFC 7748): integers modulo p = 2^255 - 19. Elements are kept below 2^256 and are
 * reduced modulo p only before comparisons: modulo p, 2^256 is 38. An output may be one of the inputs.
 */
#ifndef KILN_FIELD25519_H_
#define KILN_FIELD25519_H_
#include <stdint.h>

#define KILN_NUMBER_WORDS 8u

/*! \brief A number in words of 32 bits, the least significant first. */
typedef uint32_t kiln_number[KILN_NUMBER_WORDS];

/*! \brief p */
extern const kiln_number kiln_field_prime;

/*! \brief Copies a number. */
void kiln_number_copy(kiln_number to, const kiln_number from);

/*! \brief Reads a number from 32 bytes, the least significant first. */
void kiln_number_load(kiln_number out, const uint8_t* bytes);

/*! \brief a - b modulo 2^256; returns 1 if b is greater. */
uint32_t kiln_number_subtract(kiln_number out, const kiln_number a, const kiln_number b);

/*! \brief Returns 1 if a is less than b. */
int kiln_number_is_below(const kiln_number a, const kiln_number b);

/*! \brief One bit of a number; the least significant has the index 0. */
unsigned kiln_number_bit(const kiln_number a, unsigned at);

/*! \brief a + b */
void kiln_field_add(kiln_number out, const kiln_number a, const kiln_number b);

/*! \brief a - b */
void kiln_field_subtract(kiln_number out, const kiln_number a, const kiln_number b);

/*! \brief a * b */
void kiln_field_multiply(kiln_number out, const kiln_number a, const kiln_number b);

/*! \brief Makes an element less than p. */
void kiln_field_reduce(kiln_number value);

/*! \brief Returns 1 if an element is 0. */
int kiln_field_is_zero(const kiln_number a);

/*! \brief Returns 1 if two elements are equal. */
int kiln_field_is_equal(const kiln_number a, const kiln_number b);

/*! \brief a to the power of a number below 2^255. */
void kiln_field_power(kiln_number out, const kiln_number a, const kiln_number exponent);

#endif
