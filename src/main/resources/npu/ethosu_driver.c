/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver's interface, and a payload's actions.
 */
#include "ethosu_internal.h"

#define WEAK __attribute__((weak))

#define FOURCC 0x31504f43u /* "COP1" */
#define CUSTOM_DMA (1u << 27)
#define FAST_MEMORY 2      /* index of the base pointer that the driver's fast memory replaces */

/* The architecture that the model has: 1.1. */
#define ARCH_MAJOR 1u
#define ARCH_MINOR 1u

enum { ACTION_CONFIG = 1, ACTION_STREAM = 2, ACTION_NOP = 5 };

static struct ethosu_driver* drivers;

/* One payload runs at a time. */
static struct ethosu_run current;

WEAK void ethosu_flush_dcache(const uint64_t* base_addr, const size_t* base_addr_size, int num_base_addr) {
  (void)base_addr;
  (void)base_addr_size;
  (void)num_base_addr;
}

WEAK void ethosu_invalidate_dcache(const uint64_t* base_addr, const size_t* base_addr_size, int num_base_addr) {
  (void)base_addr;
  (void)base_addr_size;
  (void)num_base_addr;
}

WEAK void ethosu_inference_begin(struct ethosu_driver* drv, void* user_arg) {
  (void)drv;
  (void)user_arg;
}

WEAK void ethosu_inference_end(struct ethosu_driver* drv, void* user_arg) {
  (void)drv;
  (void)user_arg;
}

WEAK void ethosu_model_opened(struct ethosu_driver* drv) {
  (void)drv;
}

WEAK void ethosu_model_failed(struct ethosu_driver* drv) {
  (void)drv;
}

int ethosu_init(struct ethosu_driver* drv, void* const base_address, const void* fast_memory,
                const size_t fast_memory_size, uint32_t secure_enable, uint32_t privilege_enable) {
  (void)base_address;
  (void)secure_enable;
  (void)privilege_enable;
  if (drv == NULL || (uintptr_t)fast_memory % 16u != 0u) {
    return -1;
  }
  ethosu_deinit(drv);
  memset(drv, 0, sizeof(*drv));
  drv->fast_memory = (uintptr_t)fast_memory;
  drv->fast_memory_size = fast_memory_size;
  drv->model.config = ETHOSU_MODEL_CONFIG;
  drv->model.work = ETHOSU_MODEL_WORK;
  drv->next = drivers;
  drivers = drv;
  ethosu_model_opened(drv);
  return 0;
}

void ethosu_deinit(struct ethosu_driver* drv) {
  for (struct ethosu_driver** link = &drivers; *link != NULL; link = &(*link)->next) {
    if (*link == drv) {
      *link = drv->next;
      return;
    }
  }
}

int ethosu_soft_reset(struct ethosu_driver* drv) {
  drv->state = ETHOSU_JOB_IDLE;
  return 0;
}

int ethosu_request_power(struct ethosu_driver* drv) {
  (void)drv;
  return 0;
}

void ethosu_release_power(struct ethosu_driver* drv) {
  (void)drv;
}

void ethosu_irq_handler(struct ethosu_driver* drv) {
  (void)drv;
}

void ethosu_get_driver_version(struct ethosu_driver_version* ver) {
  ver->major = ETHOSU_DRIVER_VERSION_MAJOR;
  ver->minor = ETHOSU_DRIVER_VERSION_MINOR;
  ver->patch = ETHOSU_DRIVER_VERSION_PATCH;
}

void ethosu_get_hw_info(struct ethosu_driver* drv, struct ethosu_hw_info* hw) {
  uint32_t config = drv->model.config;
  memset(hw, 0, sizeof(*hw));
  hw->version.product_major = config >> 28;
  hw->version.arch_major_rev = ARCH_MAJOR;
  hw->version.arch_minor_rev = ARCH_MINOR;
  hw->cfg.macs_per_cc = config & 15u;
  hw->cfg.cmd_stream_version = config >> 4 & 15u;
  hw->cfg.custom_dma = config >> 27 & 1u;
}

struct ethosu_driver* ethosu_reserve_driver(void) {
  for (struct ethosu_driver* drv = drivers; drv != NULL; drv = drv->next) {
    if (!drv->reserved) {
      drv->reserved = true;
      return drv;
    }
  }
  return NULL;
}

void ethosu_release_driver(struct ethosu_driver* drv) {
  if (drv != NULL) {
    drv->reserved = false;
  }
}

void ethosu_model_configure(struct ethosu_driver* drv, uint32_t config) {
  drv->model.config = config;
}

void ethosu_model_limit(struct ethosu_driver* drv, uint64_t work) {
  drv->model.work = work;
}

void ethosu_model_watch(struct ethosu_driver* drv, ethosu_model_watcher watcher, void* user) {
  drv->model.watcher = watcher;
  drv->model.user = user;
}

const struct ethosu_model_error* ethosu_model_last_error(const struct ethosu_driver* drv) {
  return &drv->model.error;
}

/* Takes the base pointers; the driver's fast memory replaces one of them. */
static bool take_regions(struct ethosu_run* run, const struct ethosu_driver* drv, const uint64_t* base_addr,
                         const size_t* base_addr_size, int count) {
  if (count < 0 || count > (int)ETHOSU_REGIONS) {
    return ethosu_fail(run, ETHOSU_MODEL_BASES, "number of base pointers", (uint64_t)count, ETHOSU_REGIONS);
  }
  for (int i = 0; i < count; ++i) {
    bool is_fast = i == FAST_MEMORY && drv->fast_memory != 0u;
    uint64_t base = is_fast ? drv->fast_memory : base_addr[i];
    if (is_fast && drv->fast_memory_size < base_addr_size[i]) {
      return ethosu_fail(run, ETHOSU_MODEL_BASES, "fast memory", base_addr_size[i], drv->fast_memory_size);
    }
    if (base % 16u != 0u || base > UINTPTR_MAX) {
      return ethosu_fail(run, ETHOSU_MODEL_BASES, "base pointer", base, 16);
    }
    run->regions[i].base = (uint8_t*)(uintptr_t)base; /* NULL has no bytes */
    run->regions[i].bytes = base == 0u ? 0u : base_addr_size[i];
  }
  return true;
}

/* Compares what the payload was made for with what the model is. */
static bool check_config(struct ethosu_run* run, uint32_t config, uint32_t id) {
  uint32_t own = run->model->config;
  if (config >> 28 > 1u || (config | (own & CUSTOM_DMA)) != own) {
    return ethosu_fail(run, ETHOSU_MODEL_CONFIGURATION, "configuration", config, own);
  }
  if (id >> 28 != ARCH_MAJOR || (id >> 20 & 0xffu) > ARCH_MINOR) {
    return ethosu_fail(run, ETHOSU_MODEL_ARCHITECTURE, "architecture", id, ARCH_MAJOR << 28 | ARCH_MINOR << 20);
  }
  return true;
}

/* Performs one action at a word; its length in words is left in *length. */
static bool act(struct ethosu_run* run, const uint8_t* payload, uint32_t at, uint32_t words, uint32_t* length) {
  uint32_t tag = ethosu_word_at(payload, at);
  uint32_t rest = words - at - 1u;
  run->offset = 4u * at;
  run->command = tag;
  *length = 1;
  switch (tag & 0xffu) {
    case ACTION_NOP:
      return true;
    case ACTION_CONFIG:
      *length += 2u;
      if (rest < 2u) {
        return ethosu_fail(run, ETHOSU_MODEL_PAYLOAD, "configuration", 2, rest);
      }
      return check_config(run, ethosu_word_at(payload, at + 1u), ethosu_word_at(payload, at + 2u));
    case ACTION_STREAM: {
      uint32_t count = tag >> 16 | (tag & 0xff00u) << 8;
      *length += count;
      if (count > rest) {
        return ethosu_fail(run, ETHOSU_MODEL_PAYLOAD, "command stream", count, rest);
      }
      const uint8_t* stream = payload + 4u * at + 4u;
      if ((uintptr_t)stream % 16u != 0u) {
        return ethosu_fail(run, ETHOSU_MODEL_ALIGNMENT, "command stream", 4u * at + 4u, 16);
      }
      return ethosu_execute(run, stream, count, 4u * at + 4u);
    }
    default:
      return ethosu_fail(run, ETHOSU_MODEL_PAYLOAD, "driver action", tag & 0xffu, ACTION_NOP);
  }
}

static bool run_payload(struct ethosu_run* run, const uint8_t* payload, int bytes) {
  if (payload == NULL || bytes < 4 || bytes % 4 != 0) {
    return ethosu_fail(run, ETHOSU_MODEL_PAYLOAD, "size of the payload", (uint64_t)bytes, 4);
  }
  run->command = ethosu_word_at(payload, 0);
  if (run->command != FOURCC) {
    return ethosu_fail(run, ETHOSU_MODEL_PAYLOAD, "first word", run->command, FOURCC);
  }
  uint32_t words = (uint32_t)bytes / 4u;
  uint32_t length = 1;
  if (run->model->config == 0u) {
    return ethosu_fail(run, ETHOSU_MODEL_NOT_CONFIGURED, "configuration", 0, 0);
  }
  for (uint32_t at = 1; at < words; at += length) {
    if (!act(run, payload, at, words, &length)) {
      return false;
    }
  }
  return true;
}

int ethosu_invoke_async(struct ethosu_driver* drv, const void* custom_data_ptr, const int custom_data_size,
                        uint64_t* const base_addr, const size_t* base_addr_size, const int num_base_addr,
                        void* user_arg) {
  if (drv == NULL || drv->state != ETHOSU_JOB_IDLE) {
    return -1;
  }
  memset(&current, 0, sizeof(current));
  memset(&drv->model.error, 0, sizeof(drv->model.error));
  current.model = &drv->model;
  current.work = drv->model.work;
  if (!take_regions(&current, drv, base_addr, base_addr_size, num_base_addr)) {
    ethosu_model_failed(drv);
    return -1;
  }
  ethosu_flush_dcache(base_addr, base_addr_size, num_base_addr);
  ethosu_inference_begin(drv, user_arg);
  drv->base_addr = base_addr;
  drv->base_addr_size = base_addr_size;
  drv->num_base_addr = num_base_addr;
  drv->user_arg = user_arg;
  drv->result = run_payload(&current, custom_data_ptr, custom_data_size) ? 0 : -1;
  drv->state = ETHOSU_JOB_DONE;
  if (drv->result != 0) {
    ethosu_model_failed(drv);
  }
  return 0;
}

int ethosu_wait(struct ethosu_driver* drv, bool block) {
  (void)block;
  if (drv->state != ETHOSU_JOB_DONE) {
    return -2;
  }
  drv->state = ETHOSU_JOB_IDLE;
  ethosu_inference_end(drv, drv->user_arg);
  ethosu_invalidate_dcache(drv->base_addr, drv->base_addr_size, drv->num_base_addr);
  return drv->result;
}

int ethosu_invoke_v3(struct ethosu_driver* drv, const void* custom_data_ptr, const int custom_data_size,
                     uint64_t* const base_addr, const size_t* base_addr_size, const int num_base_addr,
                     void* user_arg) {
  int error = ethosu_invoke_async(drv, custom_data_ptr, custom_data_size, base_addr, base_addr_size, num_base_addr,
                                  user_arg);
  return error == 0 ? ethosu_wait(drv, true) : error;
}
