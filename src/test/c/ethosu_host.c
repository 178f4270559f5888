/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs payloads on the model of the NPU: a job file has the configuration, the regions' sizes and content, the payloads in order, and
 * cases of what to put in before and what to take out after. All numbers have 32 bits, little-endian. What is taken out goes to the
 * second file, operations to the console. Every region is memory of its own, which the sanitizer watches.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ethosu_driver.h"
#include "ethosu_job.h"

static void print_operation(const struct ethosu_model_operation* operation, void* user) {
  char line[160];
  (void)user;
  (void)ethosu_model_line(operation, line, sizeof(line));
  (void)puts(line);
}

/* What the fuzzer and the checks are called with. */
int ethosu_fuzz(const char* job, uint64_t seed, uint32_t cases);
int ethosu_checks(void);

static void take_out(const struct job* job, FILE* out) {
  for (uint32_t i = 0; i < job->take_count; ++i) {
    const struct job_place* place = &job->takes[i];
    (void)fwrite(job->regions[place->region].memory + place->offset, 1, place->bytes, out);
  }
}

static int run(const char* name, FILE* out) {
  struct job job;
  struct ethosu_driver npu;
  if (!job_read(&job, name)) {
    return 2;
  }
  (void)ethosu_init(&npu, NULL, NULL, 0, 1, 1);
  ethosu_model_configure(&npu, job.config);
  ethosu_model_watch(&npu, print_operation, NULL);
  for (uint32_t i = 0; i < job.case_count; ++i) {
    job_reset(&job);
    job_put(&job, i);
    (void)printf("case %u\n", (unsigned)i);
    for (uint32_t k = 0; k < job.payload_count; ++k) {
      struct ethosu_driver* driver = ethosu_reserve_driver();
      if (job_invoke(&job, driver, k) != 0) {
        char text[240];
        (void)ethosu_model_describe(ethosu_model_last_error(driver), text, sizeof(text));
        (void)printf("%s\n", text);
        job_free(&job);
        return 1;
      }
      ethosu_release_driver(driver);
    }
    take_out(&job, out);
  }
  job_free(&job);
  return 0;
}

/* Either a job and a file for what it takes out, or a job, a seed and a number of cases, or nothing for the checks. */
int main(int argc, char** argv) {
  if (argc == 4) {
    return ethosu_fuzz(argv[1], strtoull(argv[2], NULL, 10), (uint32_t)strtoul(argv[3], NULL, 10));
  }
  if (argc != 3) {
    return ethosu_checks();
  }
  FILE* out = fopen(argv[2], "wb");
  int result = out == NULL ? 2 : run(argv[1], out);
  return out != NULL && fclose(out) == 0 ? result : 2;
}
