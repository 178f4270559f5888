/* SPDX-License-Identifier: Apache-2.0
 *
 * Damages payloads and constants of a job, many times, and runs what comes of it: either it runs, or the model says where it is wrong.
 * The sanitizers watch every region, and the payload.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "ethosu_driver.h"
#include "ethosu_job.h"

#define WORK (1u << 15) /* of a case; damaged streams can be large */
#define MOST_DAMAGE 4u

static uint64_t state;

/* Xorshift. */
static uint32_t draw(uint32_t below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 16) % below;
}

/* Numbers that are likely to be wrong somewhere. */
static uint32_t draw_word(void) {
  static const uint32_t extremes[] = {0, 1, 15, 0xffff, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff};
  return draw(2) == 0u ? extremes[draw(8)] : draw(1u << 16) | draw(1u << 16) << 16;
}

static void damage(uint8_t* bytes, uint32_t size) {
  uint32_t word;
  uint32_t at = draw(size / 4u) * 4u;
  switch (draw(6)) {
    case 0:
      bytes[draw(size)] ^= (uint8_t)(1u << draw(8));
      break;
    case 1:
      word = draw_word();
      memcpy(bytes + at, &word, sizeof(word));
      break;
    case 2: /* another parameter for a command */
      word = draw_word();
      memcpy(bytes + at + 2, &word, 2);
      break;
    case 3: /* another opcode */
      bytes[at] = (uint8_t)draw(256);
      break;
    case 4:
      memcpy(&word, bytes + at, sizeof(word));
      word += draw(2) == 0u ? draw(65) - 32u : (draw(65) - 32u) << 16;
      memcpy(bytes + at, &word, sizeof(word));
      break;
    default: /* a part of it comes twice */
      memmove(bytes + at, bytes + draw(size / 4u) * 4u % (at + 4u), size - at < 16u ? size - at : 16u);
      break;
  }
}

/* Also looks at every result, as whoever compares operations does. */
static void checksum(const struct ethosu_model_operation* operation, void* user) {
  *(uint32_t*)user ^= ethosu_model_checksum(operation);
}

/* What is wrong has a place, and a text. */
static void expect_place(const struct ethosu_model_error* error, uint32_t bytes) {
  char text[240];
  EXPECT(error->reason != ETHOSU_MODEL_OK && error->reason <= ETHOSU_MODEL_WORK_LIMIT);
  EXPECT(error->offset == 0u || error->offset < bytes);
  EXPECT(ethosu_model_describe(error, text, sizeof(text)) > 40u);
  EXPECT(ethosu_model_describe(error, text, 8) == 7u);
}

int ethosu_fuzz(const char* name, uint64_t seed, uint32_t cases);
int ethosu_fuzz(const char* name, uint64_t seed, uint32_t cases) {
  struct job job;
  struct ethosu_driver npu;
  uint32_t sum = 0;
  uint32_t run = 0;
  EXPECT(job_read(&job, name));
  state = seed;
  (void)ethosu_init(&npu, NULL, NULL, 0, 1, 1);
  ethosu_model_configure(&npu, job.config);
  ethosu_model_limit(&npu, WORK);
  ethosu_model_watch(&npu, checksum, &sum);
  for (uint32_t i = 0; i < cases; ++i) {
    uint32_t number = draw(job.payload_count);
    uint8_t* whole = job.payloads[number];
    uint32_t bytes = job.payload_bytes[number];
    uint32_t kept = draw(10) == 0u ? 4u * draw(bytes / 4u) : bytes;
    uint8_t* copy = job_memory(kept);
    memcpy(copy, whole, kept);
    job_reset(&job);
    for (uint32_t k = draw(MOST_DAMAGE); kept > 0u && k < MOST_DAMAGE; ++k) {
      damage(copy, kept);
    }
    if (draw(3) == 0u) {
      damage(job.regions[0].memory, job.regions[0].bytes);
    }
    uint8_t* constants = job_memory(job.regions[0].bytes);
    memcpy(constants, job.regions[0].memory, job.regions[0].bytes);
    job.payloads[number] = copy;
    job.payload_bytes[number] = kept;
    if (job_invoke(&job, &npu, number) == 0) {
      ++run;
    } else {
      expect_place(ethosu_model_last_error(&npu), kept);
    }
    EXPECT(memcmp(constants, job.regions[0].memory, job.regions[0].bytes) == 0);
    job.payloads[number] = whole;
    job.payload_bytes[number] = bytes;
    free(constants);
    free(copy);
  }
  (void)printf("%u of %u ran %08x\n", (unsigned)run, (unsigned)cases, (unsigned)sum);
  job_free(&job);
  return 0;
}
