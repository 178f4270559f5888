/* SPDX-License-Identifier: Apache-2.0
 *
 * Two slots of the flash hold a model region each. The newest region that is valid runs: one for this board and firmware, whole, and
 * signed by the owner of the firmware's key. Nothing else marks a region as valid, so that a region that is half written does not count.
 */
#ifndef KILN_SLOTS_H_
#define KILN_SLOTS_H_
#include <stddef.h>
#include <stdint.h>

#include "kiln_region.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KILN_SLOTS 2u

/*! \brief Returned by the models' functions if no slot has a valid region. */
#define KILN_NO_MODEL (-2)

/*! \brief What is wrong with a region, or with an update. */
enum kiln_update_status {
  KILN_UPDATE_OK = 0,
  KILN_UPDATE_MALFORMED = 1,        /*!< no region, or it does not fit in the slot */
  KILN_UPDATE_WRONG_BOARD = 2,      /*!< it is for another board */
  KILN_UPDATE_OTHER_INTERFACE = 3,  /*!< its models have other names, tensors or scales than the firmware's */
  KILN_UPDATE_FIRMWARE_TOO_OLD = 4, /*!< it needs a newer firmware */
  KILN_UPDATE_OLD_VERSION = 5,      /*!< its version is not above that of the region that runs */
  KILN_UPDATE_WRONG_SIGNATURE = 6,  /*!< another key signed it, or none */
  KILN_UPDATE_DAMAGED = 7,          /*!< its content has another digest */
  KILN_UPDATE_INCOMPLETE = 8,       /*!< the file ends early, or has no region for the free slot */
  KILN_UPDATE_FLASH_FAILED = 9,     /*!< the flash cannot be erased or written */
};

/*! \brief The firmware that the regions must fit; Kiln generates it as kiln_slots, 256 bytes before the first slot. */
struct kiln_slots {
  uint8_t magic[8]; /* KILNSLOT */
  uintptr_t address[KILN_SLOTS];
  uint32_t bytes;    /* of each slot */
  uintptr_t memory;  /* RAM that is left to the models */
  uint32_t memory_bytes;
  uint32_t firmware; /* version, as in kiln_region */
  char board[KILN_REGION_NAME_BYTES];
  uint8_t interface[16];
  uint8_t key[32]; /* the public key */
};

extern const struct kiln_slots kiln_slots;

/*! \brief The region that runs, or NULL if no slot is valid. The first call chooses it. */
const struct kiln_region* kiln_slots_active(void);

/*!
 * \brief Chooses the newest valid region and prepares its memory: models forget their states.
 * \return the region that runs from now on, or NULL
 */
const struct kiln_region* kiln_slots_choose(void);

/*! \brief Address of a function of the models in the region that runs; 0 if no slot is valid. */
uintptr_t kiln_slots_function(unsigned number);

/*! \brief The slot that an update is written to: the one whose region does not run. */
unsigned kiln_slots_free(void);

/*! \brief Checks all of a header but its version, the signature included. */
enum kiln_update_status kiln_slots_check(const struct kiln_region* header, unsigned slot);

/*! \brief Whether the content of the region in a slot has the digest that the header states. */
int kiln_slots_holds(unsigned slot, const struct kiln_region* header);

/*! \brief Checks the region in a slot, content included. */
enum kiln_update_status kiln_slots_verify(unsigned slot);

#ifdef __cplusplus
}
#endif

#endif
