/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks around the parts of a model that an Ethos-U computes, over Arm's driver: the NPU is set up before the first run, reserved before each
 * part and released after it. A firmware that defines TVMDeviceEthosUActivate() has hooks of its own, and this file is left out.
 */
#include "kiln_npu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include KILN_NPU_DRIVER

static struct ethosu_driver kiln_npu;

/* What Kiln's applications pass to the hooks. */
void* const kiln_device_ethos_u = &kiln_npu;

int32_t TVMDeviceEthosUActivate(void* context);
int32_t TVMDeviceEthosUOpen(void* context);
int32_t TVMDeviceEthosUClose(void* context);
int32_t TVMDeviceEthosUDeactivate(void* context);

#ifdef KILN_NPU_TELLS
void kiln_console_put(uint8_t byte);

static void kiln_npu_say(const char* text, size_t length) {
  for (size_t i = 0; i < length; ++i) {
    kiln_console_put((uint8_t)text[i]);
  }
  kiln_console_put('\r');
  kiln_console_put('\n');
}

/* Whether each operation says what it leaves: kiln:compare-layers sets it in the image that it runs. */
extern const volatile uint8_t kiln_npu_logs;
const volatile uint8_t kiln_npu_logs = 0;

static void kiln_npu_log(const struct ethosu_model_operation* operation, void* user) {
  char text[128];
  (void)user;
  memcpy(text, "npu ", 4);
  kiln_npu_say(text, 4 + ethosu_model_line(operation, text + 4, sizeof text - 4));
}

/* Says on the console why the model of the NPU refused a part: which operation, and what is wrong with it. */
static void kiln_npu_tell(struct ethosu_driver* npu) {
  const struct ethosu_model_error* const error = ethosu_model_last_error(npu);
  if (error->reason != ETHOSU_MODEL_OK) {
    static char text[256];
    kiln_npu_say(text, ethosu_model_describe(error, text, sizeof text));
  }
}
#endif

#ifdef KILN_NPU_IRQ
#define NVIC_ENABLE ((volatile uint32_t*)0xE000E100u)

void KILN_NPU_HANDLER(void);
void KILN_NPU_HANDLER(void) {
  ethosu_irq_handler(&kiln_npu);
}
#endif

int32_t TVMDeviceEthosUActivate(void* context) {
  static bool ready;
  if (ready) {
    return 0;
  }
  /* The fast scratch is one of the base pointers of each part, so that the driver gets none. */
  if (ethosu_init(context, (void*)KILN_NPU_BASE, NULL, 0, KILN_NPU_SECURE, 1) != 0) {
    return -1;
  }
#ifdef KILN_NPU_MODEL
  ethosu_model_configure(context, KILN_NPU_MODEL);
#endif
#ifdef KILN_NPU_TELLS
  if (kiln_npu_logs != 0) {
    ethosu_model_watch(context, kiln_npu_log, NULL);
  }
#endif
#ifdef KILN_NPU_IRQ
  NVIC_ENABLE[KILN_NPU_IRQ / 32] = 1u << (KILN_NPU_IRQ % 32);
#endif
  ready = true;
  return 0;
}

int32_t TVMDeviceEthosUOpen(void* context) {
  struct ethosu_driver* const reserved = ethosu_reserve_driver();
  if (reserved == context) {
    return 0;
  }
  if (reserved != NULL) {
    ethosu_release_driver(reserved);
  }
  return -1;
}

int32_t TVMDeviceEthosUClose(void* context) {
#ifdef KILN_NPU_TELLS
  kiln_npu_tell(context);
#endif
  ethosu_release_driver(context);
  return 0;
}

int32_t TVMDeviceEthosUDeactivate(void* context) {
  (void)context;
  return 0;
}
