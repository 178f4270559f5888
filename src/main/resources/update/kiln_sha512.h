/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-512 (FIPS 180-4) over data that comes in parts.
 */
#ifndef KILN_SHA512_H_
#define KILN_SHA512_H_
#include <stddef.h>
#include <stdint.h>

#define KILN_SHA512_BYTES 64u

/*! \brief A digest in the making. */
struct kiln_sha512 {
  uint64_t state[8];
  uint64_t length;
  uint8_t block[128];
};

/*! \brief Begins a digest. */
void kiln_sha512_begin(struct kiln_sha512* digest);

/*! \brief Takes the next part of the data. */
void kiln_sha512_add(struct kiln_sha512* digest, const uint8_t* data, size_t bytes);

/*! \brief Ends a digest. */
void kiln_sha512_end(struct kiln_sha512* digest, uint8_t out[KILN_SHA512_BYTES]);

#endif  // KILN_SHA512_H_
