/* SPDX-License-Identifier: Apache-2.0
 *
 * Updates the models of this image again and again, and loses power at a seeded byte of erasing or writing. After each cut it starts as
 * after a reset and checks the answer of the models. The slots lie in memory that the emulated core may write.
 */
#include <stdint.h>

#include "check.h"
#include "kiln_update.h"
#include "tvmgen_default.h"
#include "updates.h"

#define INPUTS 16u

static struct kiln_update update;
static uint32_t bytes_left;
static uint32_t bytes_done;
static uint32_t seed = SEED;

static uint32_t next_random(void) {
  seed ^= seed << 13;
  seed ^= seed >> 17;
  seed ^= seed << 5;
  return seed;
}

/* The byte at which power is lost keeps some of its old bits. */
static int change(volatile uint8_t* at, uint8_t value) {
  if (bytes_left == 0u) {
    return -1;
  }
  --bytes_left;
  ++bytes_done;
  if (bytes_left == 0u) {
    uint8_t kept = (uint8_t)next_random();
    *at = (uint8_t)((*at & kept) | (value & (uint8_t)~kept));
    return -1;
  }
  *at = value;
  return 0;
}

static int erase(uintptr_t address, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; ++i) {
    if (change((volatile uint8_t*)address + i, 0xff) != 0) {
      return -1;
    }
  }
  return 0;
}

static int write_flash(uintptr_t address, const void* data, uint32_t bytes) {
  const uint8_t* from = data;
  EXPECT(address % 32u == 0u && bytes % 32u == 0u);
  for (uint32_t i = 0; i < bytes; ++i) {
    volatile uint8_t* at = (volatile uint8_t*)address + i;
    if (change(at, (uint8_t)(*at & from[i])) != 0) {
      return -1;
    }
  }
  return 0;
}

static const struct kiln_flash flash = {erase, write_flash};

/* In parts of sizes that the seed chooses. */
static enum kiln_update_status apply(const uint8_t* file, uint32_t bytes, uint32_t power) {
  bytes_left = power;
  bytes_done = 0;
  kiln_update_begin(&update, &flash);
  for (uint32_t at = 0; at < bytes;) {
    uint32_t part = 1u + next_random() % 999u;
    part = part > bytes - at ? bytes - at : part;
    (void)kiln_update_add(&update, file + at, part);
    at += part;
  }
  return kiln_update_end(&update);
}

static uint32_t running(void) {
  const struct kiln_region* region = kiln_slots_choose();
  EXPECT(region != NULL);
  return region->version >> 16 & 0xffu;
}

/* The models of each version add another table to their input. */
static void expect_answers(uint32_t version) {
  int8_t x[INPUTS];
  int8_t y[INPUTS];
  struct tvmgen_default_inputs inputs = {x};
  struct tvmgen_default_outputs outputs = {y};
  for (uint32_t i = 0; i < INPUTS; ++i) {
    x[i] = (int8_t)next_random();
  }
  EXPECT(tvmgen_default_run(&inputs, &outputs) == 0);
  for (uint32_t i = 0; i < INPUTS; ++i) {
    uint8_t of = (uint8_t)x[i];
    uint32_t entry = (of * 37u + i) % TABLE_BYTES;
    EXPECT((uint8_t)y[i] == (uint8_t)(of + version * 31u + entry * 17u));
  }
}

static const struct kiln_region* in_slot(unsigned slot) {
  return (const struct kiln_region*)kiln_slots.address[slot];
}

static uint32_t content_of(unsigned slot) {
  const uint8_t* bytes = (const uint8_t*)kiln_slots.address[slot];
  uint32_t sum = 1;
  for (uint32_t i = 0; i < 2u * sizeof(update_1); ++i) {
    sum = sum * 31u + bytes[i];
  }
  return sum;
}

/* Nothing of the slots changes, whatever is wrong with the file. */
static void expect_refusal(const uint8_t* file, uint32_t bytes, enum kiln_update_status why) {
  uint32_t first = content_of(0);
  uint32_t second = content_of(1);
  EXPECT(apply(file, bytes, UINT32_MAX) == why);
  EXPECT(bytes_done == 0u && first == content_of(0) && second == content_of(1));
}

static uint8_t spoiled[sizeof(update_1)];

static void spoil(uint32_t at) {
  for (uint32_t i = 0; i < sizeof(update_1); ++i) {
    spoiled[i] = update_1[i];
  }
  spoiled[at] ^= 1u;
}

static void refusals(void) {
  uint32_t second = in_slot(0)->bytes; /* the file's region for the second slot */
  expect_refusal(update_0, sizeof(update_0), KILN_UPDATE_OLD_VERSION);
  expect_refusal(update_other_key, sizeof(update_other_key), KILN_UPDATE_WRONG_SIGNATURE);
  expect_refusal(update_other_board, sizeof(update_other_board), KILN_UPDATE_WRONG_BOARD);
  expect_refusal(update_other_interface, sizeof(update_other_interface), KILN_UPDATE_OTHER_INTERFACE);
  expect_refusal(update_newer_firmware, sizeof(update_newer_firmware), KILN_UPDATE_FIRMWARE_TOO_OLD);
  spoil(second + 20u); /* its version */
  expect_refusal(spoiled, sizeof(spoiled), KILN_UPDATE_WRONG_SIGNATURE);
  spoil(second + 200u); /* its signature */
  expect_refusal(spoiled, sizeof(spoiled), KILN_UPDATE_WRONG_SIGNATURE);
  spoil(0); /* a magic */
  expect_refusal(spoiled, sizeof(spoiled), KILN_UPDATE_MALFORMED);
  expect_refusal(update_1, second, KILN_UPDATE_INCOMPLETE);
  expect_refusal(update_1, 0, KILN_UPDATE_INCOMPLETE);
  /* What is known only at the end is written, but never becomes valid. */
  spoil(second + KILN_REGION_HEADER_BYTES + 7u);
  EXPECT(apply(spoiled, sizeof(spoiled), UINT32_MAX) == KILN_UPDATE_DAMAGED && running() == 0u);
  EXPECT(apply(update_1, sizeof(update_1) - 1u, UINT32_MAX) == KILN_UPDATE_INCOMPLETE && running() == 0u);
  expect_answers(0);
}

/* Every third time it suffices for the header, in whose last bytes the update becomes valid, or for a little more. */
static uint32_t power_for(uint32_t bytes) {
  uint32_t more = next_random();
  return next_random() % 3u == 0u ? bytes - KILN_REGION_HEADER_BYTES + more % 300u : 1u + more % bytes;
}

/* A region that is chosen after an update has begun runs, and is not written over. */
static void choice_meanwhile(void) {
  EXPECT(apply(update_1, sizeof(update_1), UINT32_MAX) == KILN_UPDATE_OK);
  kiln_update_begin(&update, &flash);
  EXPECT(running() == 1u);
  (void)kiln_update_add(&update, update_2, sizeof(update_2));
  expect_answers(1);
  EXPECT(kiln_update_end(&update) == KILN_UPDATE_OK && running() == 2u);
  expect_answers(2);
}

int main(void) {
  static uint8_t factory[sizeof(update_1)];
  const uint8_t* const files[] = {update_1, update_2};
  unsigned stayed = 0;
  unsigned arrived = 0;
  uint32_t bytes = in_slot(0)->bytes;
  for (uint32_t i = 0; i < bytes; ++i) {
    factory[i] = ((const uint8_t*)in_slot(0))[i];
  }
  EXPECT(running() == 0u);
  expect_answers(0);
  refusals();
  choice_meanwhile();
  for (unsigned cut = 0; cut < CUTS;) {
    uint32_t old = running();
    if (old == 2u) { /* the newest: begin again */
      bytes_left = UINT32_MAX;
      EXPECT(erase(kiln_slots.address[0], bytes) == 0 && erase(kiln_slots.address[1], bytes) == 0);
      EXPECT(write_flash(kiln_slots.address[0], factory, bytes) == 0);
      continue;
    }
    uint32_t power = power_for(2u * bytes);
    enum kiln_update_status status = apply(files[old], sizeof(update_1), power);
    uint32_t now = running();
    EXPECT(now == (status == KILN_UPDATE_OK || now != old ? old + 1u : old));
    expect_answers(now);
    if (status != KILN_UPDATE_OK) {
      EXPECT(status == KILN_UPDATE_FLASH_FAILED && bytes_left == 0u);
      ++cut;
    }
    if (now == old) {
      ++stayed;
    } else {
      ++arrived;
    }
  }
  EXPECT(stayed > 0u && arrived > 0u);
  DONE("all cuts survived");
  return 0;
}
