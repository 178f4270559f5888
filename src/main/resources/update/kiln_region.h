/* SPDX-License-Identifier: Apache-2.0
 *
 * A model region: the code and constants of all models of a firmware, linked for one slot of the flash. It begins with this header.
 * An update file is the regions for all slots, one after the other. Numbers are little endian.
 */
#ifndef KILN_REGION_H_
#define KILN_REGION_H_
#include <stdint.h>

#define KILN_REGION_MAGIC "KILNREGN"
#define KILN_REGION_FORMAT 1u
#define KILN_REGION_HEADER_BYTES 256u
#define KILN_REGION_SIGNED_BYTES 192u
#define KILN_REGION_ALIGNMENT 32u /* of the region's length */
#define KILN_REGION_NAME_BYTES 32u

struct kiln_region {
  uint8_t magic[8];
  uint32_t format;
  uint32_t address; /* of this header in the slot that the region is linked for */
  uint32_t bytes;   /* of the region with its header */
  uint32_t version; /* of the models: major << 24 | minor << 16 | patch */
  uint32_t minimum_firmware;
  uint32_t memory; /* RAM that the models use */
  uint32_t memory_bytes;
  uint32_t zeroed; /* its part that is zero at the start */
  uint32_t zeroed_bytes;
  uint32_t functions;                    /* offset of the addresses of the models' functions in the region */
  char board[KILN_REGION_NAME_BYTES];    /* ends with a zero */
  char models[KILN_REGION_NAME_BYTES];   /* ends with a zero */
  uint8_t interface[16];                 /* digest of the functions and tensors of the models */
  uint8_t digest[32];                    /* SHA-512/256 of the region behind its header */
  uint8_t unused[32];                    /* zero */
  uint8_t signature[64];                 /* Ed25519 of the header before it */
};

_Static_assert(sizeof(struct kiln_region) == KILN_REGION_HEADER_BYTES, "the header has no padding");

#endif
