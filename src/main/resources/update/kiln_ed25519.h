/* SPDX-License-Identifier: Apache-2.0
 *
 * Verification of Ed25519 signatures (RFC 8032, section 5.1.7). It does not sign: no secret belongs on a device. Its time and
 * memory accesses depend on the data, which is public.
 */
#ifndef KILN_ED25519_H_
#define KILN_ED25519_H_
#include <stddef.h>
#include <stdint.h>

#include "kiln_sha512.h"

#define KILN_ED25519_KEY_BYTES 32u
#define KILN_ED25519_SIGNATURE_BYTES 64u

/*! \brief A verification; the message comes in parts. */
struct kiln_ed25519 {
  struct kiln_sha512 digest;
  const uint8_t* key;
  const uint8_t* signature;
};

/*!
 * \brief Begins to verify a signature.
 * \param key the public key, 32 bytes; it must last until the end
 * \param signature 64 bytes; they must last until the end
 */
void kiln_ed25519_begin(struct kiln_ed25519* check, const uint8_t* key, const uint8_t* signature);

/*! \brief Takes the next part of the message. */
void kiln_ed25519_add(struct kiln_ed25519* check, const uint8_t* message, size_t bytes);

/*!
 * \brief Ends the verification.
 * \return 1 if the key's owner signed the message; 0 if not, if a number is not reduced, or if a point has small order
 */
int kiln_ed25519_end(struct kiln_ed25519* check);

#endif
