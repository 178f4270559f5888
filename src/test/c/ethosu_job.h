/* SPDX-License-Identifier: Apache-2.0
 *
 * A job for the model of the NPU, read from a file.
 */
#ifndef ETHOSU_JOB_H_
#define ETHOSU_JOB_H_
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ethosu_driver.h"

#define JOB_REGIONS 8u
#define JOB_MOST 64u

struct job_region {
  uint32_t bytes;
  uint32_t given; /* bytes of content; the others begin as 0 */
  const uint8_t* content;
  uint8_t* memory;
};

struct job_place {
  uint32_t region;
  uint32_t offset;
  uint32_t bytes;
  const uint8_t* content;
};

struct job {
  uint8_t* file;
  uint32_t at;
  uint32_t config;
  uint32_t region_count;
  struct job_region regions[JOB_REGIONS];
  uint32_t payload_count;
  uint32_t payload_bytes[JOB_MOST];
  uint8_t* payloads[JOB_MOST];
  uint32_t case_count;
  uint32_t put_count; /* of a case; all have as many */
  struct job_place puts[JOB_MOST];
  uint32_t take_count;
  struct job_place takes[JOB_MOST];
};

static inline uint32_t job_number(struct job* job) {
  uint32_t number;
  memcpy(&number, job->file + job->at, sizeof(number));
  job->at += 4u;
  return number;
}

static inline const uint8_t* job_bytes(struct job* job, uint32_t bytes) {
  const uint8_t* content = job->file + job->at;
  job->at += bytes;
  return content;
}

/* Memory aligned to 16 bytes and no larger than it has to be. */
static inline uint8_t* job_memory(uint32_t bytes) {
  void* memory = NULL;
  return posix_memalign(&memory, 16, bytes == 0u ? 1u : bytes) == 0 ? memory : NULL;
}

static inline bool job_load(struct job* job, const char* name) {
  FILE* in = fopen(name, "rb");
  if (in == NULL || fseek(in, 0, SEEK_END) != 0) {
    return false;
  }
  long size = ftell(in);
  rewind(in);
  job->file = malloc((size_t)size);
  bool is_whole = job->file != NULL && fread(job->file, 1, (size_t)size, in) == (size_t)size;
  return fclose(in) == 0 && is_whole;
}

static inline bool job_read(struct job* job, const char* name) {
  memset(job, 0, sizeof(*job));
  if (!job_load(job, name)) {
    return false;
  }
  job->config = job_number(job);
  job->region_count = job_number(job);
  for (uint32_t i = 0; i < job->region_count; ++i) {
    struct job_region* region = &job->regions[i];
    region->bytes = job_number(job);
    region->given = job_number(job);
    region->content = job_bytes(job, region->given);
    region->memory = job_memory(region->bytes);
  }
  job->payload_count = job_number(job);
  for (uint32_t i = 0; i < job->payload_count; ++i) {
    job->payload_bytes[i] = job_number(job);
    job->payloads[i] = job_memory(job->payload_bytes[i]);
    memcpy(job->payloads[i], job_bytes(job, job->payload_bytes[i]), job->payload_bytes[i]);
  }
  job->take_count = job_number(job);
  for (uint32_t i = 0; i < job->take_count; ++i) {
    job->takes[i] = (struct job_place){job_number(job), job_number(job), job_number(job), NULL};
  }
  job->case_count = job_number(job);
  job->put_count = job_number(job);
  for (uint32_t i = 0; i < job->case_count * job->put_count; ++i) {
    struct job_place* place = &job->puts[i];
    place->region = job_number(job);
    place->offset = job_number(job);
    place->bytes = job_number(job);
    place->content = job_bytes(job, place->bytes);
  }
  return true;
}

static inline void job_reset(struct job* job) {
  for (uint32_t i = 0; i < job->region_count; ++i) {
    struct job_region* region = &job->regions[i];
    memset(region->memory, 0, region->bytes);
    memcpy(region->memory, region->content, region->given);
  }
}

static inline void job_put(struct job* job, uint32_t number) {
  for (uint32_t i = 0; i < job->put_count; ++i) {
    const struct job_place* place = &job->puts[number * job->put_count + i];
    memcpy(job->regions[place->region].memory + place->offset, place->content, place->bytes);
  }
}

static inline int job_invoke(const struct job* job, struct ethosu_driver* driver, uint32_t payload) {
  uint64_t bases[JOB_REGIONS];
  size_t sizes[JOB_REGIONS];
  for (uint32_t i = 0; i < job->region_count; ++i) {
    bases[i] = (uintptr_t)job->regions[i].memory;
    sizes[i] = job->regions[i].bytes;
  }
  return ethosu_invoke_v3(driver, job->payloads[payload], (int)job->payload_bytes[payload], bases, sizes,
                          (int)job->region_count, NULL);
}

static inline void job_free(struct job* job) {
  for (uint32_t i = 0; i < job->region_count; ++i) {
    free(job->regions[i].memory);
  }
  for (uint32_t i = 0; i < job->payload_count; ++i) {
    free(job->payloads[i]);
  }
  free(job->file);
}

#endif /* ETHOSU_JOB_H_ */
