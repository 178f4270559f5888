/* SPDX-License-Identifier: Apache-2.0 */
#include "kiln_slots.h"

#include "kiln_ed25519.h"
#include "kiln_sha512.h"

static const struct kiln_region* active;
static uint8_t is_chosen;

static int is_equal(const uint8_t* a, const uint8_t* b, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    if (a[i] != b[i]) {
      return 0;
    }
  }
  return 1;
}

static int has_name(const char* name, const char* wanted) {
  for (unsigned i = 0; i < KILN_REGION_NAME_BYTES; ++i) {
    if (name[i] != wanted[i]) {
      return 0;
    }
    if (name[i] == '\0') {
      return 1;
    }
  }
  return 0;
}

/* Whether [address, address + bytes) lies in [start, start + size). */
static int is_inside(uintptr_t address, uint32_t bytes, uintptr_t start, uint32_t size) {
  return address >= start && bytes <= size && address - start <= size - bytes;
}

static int is_well_formed(const struct kiln_region* header, unsigned slot) {
  return is_equal(header->magic, (const uint8_t*)KILN_REGION_MAGIC, sizeof(header->magic)) &&
         header->format == KILN_REGION_FORMAT && header->address == kiln_slots.address[slot] &&
         header->bytes > KILN_REGION_HEADER_BYTES && header->bytes <= kiln_slots.bytes &&
         header->bytes % KILN_REGION_ALIGNMENT == 0u && header->functions >= KILN_REGION_HEADER_BYTES &&
         header->functions < header->bytes && header->functions % 4u == 0u;
}

static int fits_memory(const struct kiln_region* header) {
  return is_inside(header->memory, header->memory_bytes, kiln_slots.memory, kiln_slots.memory_bytes) &&
         is_inside(header->zeroed, header->zeroed_bytes, header->memory, header->memory_bytes);
}

static int is_signed(const struct kiln_region* header) {
  struct kiln_ed25519 check;
  kiln_ed25519_begin(&check, kiln_slots.key, header->signature);
  kiln_ed25519_add(&check, (const uint8_t*)header, KILN_REGION_SIGNED_BYTES);
  return kiln_ed25519_end(&check);
}

static const struct kiln_region* region_in(unsigned slot) {
  return (const struct kiln_region*)kiln_slots.address[slot];
}

int kiln_slots_holds(unsigned slot, const struct kiln_region* header) {
  struct kiln_sha512 digest;
  uint8_t bytes[KILN_SHA512_BYTES];
  kiln_sha512_256_begin(&digest);
  kiln_sha512_add(&digest, (const uint8_t*)region_in(slot) + KILN_REGION_HEADER_BYTES,
                  header->bytes - KILN_REGION_HEADER_BYTES);
  kiln_sha512_end(&digest, bytes);
  return is_equal(bytes, header->digest, KILN_SHA512_256_BYTES);
}

enum kiln_update_status kiln_slots_check(const struct kiln_region* header, unsigned slot) {
  if (!is_well_formed(header, slot)) {
    return KILN_UPDATE_MALFORMED;
  }
  if (!has_name(header->board, kiln_slots.board)) {
    return KILN_UPDATE_WRONG_BOARD;
  }
  if (!is_equal(header->interface, kiln_slots.interface, sizeof(header->interface))) {
    return KILN_UPDATE_OTHER_INTERFACE;
  }
  if (header->minimum_firmware > kiln_slots.firmware) {
    return KILN_UPDATE_FIRMWARE_TOO_OLD;
  }
  if (!fits_memory(header)) {
    return KILN_UPDATE_MALFORMED;
  }
  return is_signed(header) ? KILN_UPDATE_OK : KILN_UPDATE_WRONG_SIGNATURE;
}

enum kiln_update_status kiln_slots_verify(unsigned slot) {
  const struct kiln_region* region = region_in(slot);
  /* The digest is cheaper than the signature, and finds what is half written. */
  if (is_well_formed(region, slot) && !kiln_slots_holds(slot, region)) {
    return KILN_UPDATE_DAMAGED;
  }
  return kiln_slots_check(region, slot);
}

const struct kiln_region* kiln_slots_choose(void) {
  unsigned first = region_in(1)->version > region_in(0)->version ? 1u : 0u;
  active = NULL;
  is_chosen = 1;
  for (unsigned i = 0; i < KILN_SLOTS && active == NULL; ++i) {
    unsigned slot = (first + i) % KILN_SLOTS;
    if (kiln_slots_verify(slot) == KILN_UPDATE_OK) {
      active = region_in(slot);
    }
  }
  if (active != NULL) {
    uint8_t* zeroed = (uint8_t*)(uintptr_t)active->zeroed;
    for (uint32_t i = 0; i < active->zeroed_bytes; ++i) {
      zeroed[i] = 0;
    }
  }
  return active;
}

const struct kiln_region* kiln_slots_active(void) {
  return is_chosen ? active : kiln_slots_choose();
}

uintptr_t kiln_slots_function(unsigned number) {
  const struct kiln_region* region = kiln_slots_active();
  if (region == NULL) {
    return 0;
  }
  return ((const uint32_t*)((uintptr_t)region + region->functions))[number];
}

unsigned kiln_slots_free(void) {
  return kiln_slots_active() == region_in(0) ? 1u : 0u;
}
