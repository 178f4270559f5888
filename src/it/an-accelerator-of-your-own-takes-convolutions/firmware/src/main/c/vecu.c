/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver of the vector unit: the hooks that generated code calls, and what starts a command stream.
 */
#include "vecu.h"

#include "vecu_registers.h"

/* What Kiln's application passes to the hooks. */
void* const kiln_device_vecu = (void*)VECU_BASE;

int32_t TVMDeviceVecuActivate(void* context);
int32_t TVMDeviceVecuOpen(void* context);
int32_t TVMDeviceVecuClose(void* context);
int32_t TVMDeviceVecuDeactivate(void* context);

/* Before a run of the model. */
int32_t TVMDeviceVecuActivate(void* context) {
  volatile struct vecu_registers* const unit = context;
  unit->control = VECU_POWER;
  vecu_wait();
  return unit->status == VECU_READY ? 0 : -1;
}

/* Before each function: a unit that another program keeps busy is an error. */
int32_t TVMDeviceVecuOpen(void* context) {
  volatile struct vecu_registers* const unit = context;
  return unit->status == VECU_READY ? 0 : -1;
}

/* After each function. */
int32_t TVMDeviceVecuClose(void* context) {
  volatile struct vecu_registers* const unit = context;
  unit->control = VECU_POWER;
  vecu_wait();
  return unit->status == VECU_READY ? 0 : -1;
}

/* After a run of the model. */
int32_t TVMDeviceVecuDeactivate(void* context) {
  volatile struct vecu_registers* const unit = context;
  unit->control = 0;
  return 0;
}

int32_t vecu_run(void* device, const uint32_t* commands, uint32_t words, const void* const* regions) {
  volatile struct vecu_registers* const unit = device;
  for (uint32_t i = 0; i < VECU_REGIONS; ++i) {
    unit->region[i] = (uintptr_t)regions[i];
  }
  unit->commands = (uintptr_t)commands;
  unit->words = words;
  /* What the core has written reaches memory before the unit reads it. */
  __sync_synchronize();
  unit->control = VECU_POWER | VECU_START;
  do {
    vecu_wait();
  } while (unit->status == VECU_BUSY);
  __sync_synchronize();
  return unit->status == VECU_DONE ? 0 : -1;
}
