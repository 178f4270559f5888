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

static void take_out(const struct job* job, FILE* out) {
  for (uint32_t i = 0; i < job->take_count; ++i) {
    const struct job_place* place = &job->takes[i];
    (void)fwrite(job->regions[place->region].memory + place->offset, 1, place->bytes, out);
  }
}

int main(int argc, char** argv) {
  struct job job;
  struct ethosu_driver npu;
  if (argc != 3 || !job_read(&job, argv[1])) {
    return 2;
  }
  FILE* out = fopen(argv[2], "wb");
  if (out == NULL) {
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
        (void)fclose(out);
        return 1;
      }
      ethosu_release_driver(driver);
    }
    take_out(&job, out);
  }
  job_free(&job);
  return fclose(out) == 0 ? 0 : 2;
}
