/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-512 and SHA-512/256 (FIPS 180-4) over data that comes in parts.
 */
#ifndef KILN_SHA512_H_
#define KILN_SHA512_H_
#include <stddef.h>
#include <stdint.h>

#define KILN_SHA512_BYTES 64u
#define KILN_SHA512_256_BYTES 32u

/*! \brief A digest that is being computed. */
struct kiln_sha512 {
  uint64_t state[8];
  uint64_t length;
  uint8_t block[128];
};

/*! \brief Begins a digest with SHA-512. */
void kiln_sha512_begin(struct kiln_sha512* digest);

/*! \brief Begins a digest with SHA-512/256, which is the first 32 bytes of the result. */
void kiln_sha512_256_begin(struct kiln_sha512* digest);

/*! \brief Takes the next part of the data. */
void kiln_sha512_add(struct kiln_sha512* digest, const uint8_t* data, size_t bytes);

/*! \brief Ends a digest. */
void kiln_sha512_end(struct kiln_sha512* digest, uint8_t out[KILN_SHA512_BYTES]);

#endif
