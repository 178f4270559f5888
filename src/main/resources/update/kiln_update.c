/* SPDX-License-Identifier: Apache-2.0 */
#include "kiln_update.h"

/* The part of the header that is written last. Without its magic there is no region. */
#define COMMIT_BYTES 32u

static uintptr_t slot_address(const struct kiln_update* update) {
  return kiln_slots.address[update->slot];
}

static void write_flash(struct kiln_update* update, uint32_t offset, const void* data, uint32_t bytes) {
  if (update->status == KILN_UPDATE_OK && update->flash->write(slot_address(update) + offset, data, bytes) != 0) {
    update->status = KILN_UPDATE_FLASH_FAILED;
  }
}

/* All that a header says is checked before anything is erased. */
static void take_header(struct kiln_update* update) {
  const struct kiln_region* header = &update->coming;
  const struct kiln_region* active = kiln_slots_active();
  /* The program may have chosen another region since the update began. */
  if (!update->is_taken) {
    update->slot = kiln_slots_free();
  }
  update->is_taking = header->address == slot_address(update);
  if (!update->is_taking) {
    for (unsigned i = 0; i < sizeof(header->magic); ++i) {
      if (header->magic[i] != (uint8_t)KILN_REGION_MAGIC[i]) {
        update->status = KILN_UPDATE_MALFORMED;
      }
    }
    if (header->bytes <= KILN_REGION_HEADER_BYTES) {
      update->status = KILN_UPDATE_MALFORMED;
    }
    return;
  }
  update->status = update->is_taken ? KILN_UPDATE_MALFORMED : kiln_slots_check(header, update->slot);
  if (update->status == KILN_UPDATE_OK && active != NULL && header->version <= active->version) {
    update->status = KILN_UPDATE_OLD_VERSION;
  }
  if (update->status == KILN_UPDATE_OK && update->flash->erase(slot_address(update), header->bytes) != 0) {
    update->status = KILN_UPDATE_FLASH_FAILED;
  }
  update->taken = *header;
}

static void take_content(struct kiln_update* update, uint8_t byte) {
  uint32_t at = update->position % KILN_UPDATE_PAGE;
  update->page[at] = byte;
  if (at == KILN_UPDATE_PAGE - 1u || update->position == update->coming.bytes - 1u) {
    write_flash(update, update->position - at, update->page, at + 1u);
  }
}

static void take(struct kiln_update* update, uint8_t byte) {
  if (update->position < KILN_REGION_HEADER_BYTES) {
    ((uint8_t*)&update->coming)[update->position] = byte;
    if (update->position == KILN_REGION_HEADER_BYTES - 1u) {
      take_header(update);
    }
  } else if (update->is_taking) {
    take_content(update, byte);
  }
  ++update->position;
  if (update->position > KILN_REGION_HEADER_BYTES && update->position == update->coming.bytes) {
    update->is_taken |= update->is_taking;
    update->position = 0;
  }
}

void kiln_update_begin(struct kiln_update* update, const struct kiln_flash* flash) {
  update->flash = flash;
  update->slot = 0;
  update->status = KILN_UPDATE_OK;
  update->is_taking = 0;
  update->is_taken = 0;
  update->position = 0;
}

enum kiln_update_status kiln_update_add(struct kiln_update* update, const void* data, size_t bytes) {
  const uint8_t* next = data;
  for (size_t i = 0; i < bytes && update->status == KILN_UPDATE_OK; ++i) {
    take(update, next[i]);
  }
  return update->status;
}

enum kiln_update_status kiln_update_end(struct kiln_update* update) {
  if (update->status == KILN_UPDATE_OK && (!update->is_taken || update->position != 0u)) {
    update->status = KILN_UPDATE_INCOMPLETE;
  }
  const uint8_t* header = (const uint8_t*)&update->taken;
  write_flash(update, COMMIT_BYTES, header + COMMIT_BYTES, KILN_REGION_HEADER_BYTES - COMMIT_BYTES);
  if (update->status == KILN_UPDATE_OK && !kiln_slots_holds(update->slot, &update->taken)) {
    update->status = KILN_UPDATE_DAMAGED;
  }
  write_flash(update, 0, header, COMMIT_BYTES);
  if (update->status == KILN_UPDATE_OK) {
    update->status = kiln_slots_verify(update->slot);
  }
  return update->status;
}
