/* SPDX-License-Identifier: Apache-2.0
 *
 * A payload on the model of the NPU in an image: operations are told on the console as the traces have them. npu_data.h is the test's: the
 * arrays flash, payload and content, and ARENA_BYTES, FAST_BYTES, CONTENT_AT, NPU_CONFIG.
 */
#include <string.h>

#include "ethosu_driver.h"
#include "kiln_console.h"
#include "npu_data.h"

static uint8_t arena[ARENA_BYTES] __attribute__((aligned(16)));
static uint8_t fast[FAST_BYTES] __attribute__((aligned(16)));
static char line[200];

static void tell(const struct ethosu_model_operation* operation, void* user) {
  (void)user;
  (void)ethosu_model_line(operation, line, sizeof(line));
  kiln_console_text(line);
  kiln_console_text("\n");
}

void ethosu_model_opened(struct ethosu_driver* drv) {
  ethosu_model_configure(drv, NPU_CONFIG);
  ethosu_model_watch(drv, tell, NULL);
}

void ethosu_model_failed(struct ethosu_driver* drv) {
  (void)ethosu_model_describe(ethosu_model_last_error(drv), line, sizeof(line));
  kiln_console_text(line);
}

int main(void) {
  static struct ethosu_driver npu;
  uint64_t bases[] = {(uintptr_t)flash, (uintptr_t)arena, (uintptr_t)fast};
  const size_t sizes[] = {sizeof(flash), sizeof(arena), sizeof(fast)};
  memcpy(arena + CONTENT_AT, content, sizeof(content));
  (void)ethosu_init(&npu, NULL, NULL, 0, 1, 1);
  struct ethosu_driver* driver = ethosu_reserve_driver();
  int error = ethosu_invoke_v3(driver, payload, (int)sizeof(payload), bases, sizes, 3, NULL);
  ethosu_release_driver(driver);
  kiln_console_text("end\n");
  return error;
}
