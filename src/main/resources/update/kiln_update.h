/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes an update file into the free slot while the program runs. The file may come in parts of any size, from wherever the program
 * gets it. A file that is refused for its header changes nothing; whatever fails later, or if power is lost, the region that runs stays.
 *
 *   kiln_update_begin(&update, &flash);
 *   while (there is more) kiln_update_add(&update, data, bytes);
 *   status = kiln_update_end(&update);
 *
 * The new region runs from the next start on, or from kiln_slots_choose() on.
 */
#ifndef KILN_UPDATE_H_
#define KILN_UPDATE_H_
#include "kiln_slots.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KILN_UPDATE_PAGE 256u

/*! \brief The flash driver. Both functions return 0, or anything else if they fail. */
struct kiln_flash {
  /*! \brief Erases all sectors that the range touches; it begins with a slot. */
  int (*erase)(uintptr_t address, uint32_t bytes);
  /*! \brief Writes erased flash; address and length are multiples of 32. */
  int (*write)(uintptr_t address, const void* data, uint32_t bytes);
};

/*! \brief An update that is being written. */
struct kiln_update {
  const struct kiln_flash* flash;
  unsigned slot;
  enum kiln_update_status status;
  int is_taking;     /* the region that comes is for the free slot */
  int is_taken;      /* its content is in flash, its header not yet */
  uint32_t position; /* in the region that comes */
  struct kiln_region coming;
  struct kiln_region taken;
  uint8_t page[KILN_UPDATE_PAGE];
};

/*! \brief Begins an update. */
void kiln_update_begin(struct kiln_update* update, const struct kiln_flash* flash);

/*!
 * \brief Takes the next part of the file.
 * \return KILN_UPDATE_OK, or why the file is refused; the rest is then ignored
 */
enum kiln_update_status kiln_update_add(struct kiln_update* update, const void* data, size_t bytes);

/*!
 * \brief Ends an update: verifies what was written, then writes the header, which makes it valid.
 * \return KILN_UPDATE_OK if the new region is valid
 */
enum kiln_update_status kiln_update_end(struct kiln_update* update);

#ifdef __cplusplus
}
#endif

#endif
