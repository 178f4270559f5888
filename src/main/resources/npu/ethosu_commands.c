/* SPDX-License-Identifier: Apache-2.0
 *
 * The command stream: registers, DMA, and the operations in order. Waits and other commands that only concern time are passed over.
 */
#include "ethosu_internal.h"

#define KIND(word) ((word) >> 14 & 3u)
#define INSIDE 0x100u      /* a DMA region inside the NPU */
#define STRIDED 0x600u     /* a DMA in two or three dimensions */
#define STEP_BYTES 16u     /* granularity of the SHRAM */

enum {
  OP_STOP = 0x000,
  OP_IRQ = 0x001,
  OP_DMA_START = 0x010,
  OP_DMA_WAIT = 0x011,
  OP_KERNEL_WAIT = 0x012,
  OP_PMU_MASK = 0x013
};

/* The registers that there are, a bit each, from 0x100 and from 0x000 on. */
static const uint16_t known_words[ETHOSU_WORD_COUNT / 16u] = {0xbebf, 0x9dfe, 0xa3ff, 0x000f, 0, 0, 0, 0, 0xbe23};
static const uint16_t known_wides[(ETHOSU_WIDE_COUNT + 15u) / 16u] = {0x007f, 0x007f, 0x007f, 0x001f, 0,
                                                                      0,      0,      0,      0x007f, 0x000f};

bool ethosu_fail(struct ethosu_run* run, enum ethosu_model_reason reason, const char* subject, uint64_t value,
                 uint64_t limit) {
  struct ethosu_model_error* error = &run->model->error;
  error->reason = reason;
  error->offset = run->offset;
  error->command = run->command;
  error->operation = run->operation;
  error->subject = subject;
  error->value = value;
  error->limit = limit;
  return false;
}

bool ethosu_range(struct ethosu_run* run, const char* name, unsigned region, uint64_t address, uint64_t bytes,
                  uint8_t** memory) {
  if (region >= ETHOSU_REGIONS || run->regions[region].base == NULL) {
    return ethosu_fail(run, ETHOSU_MODEL_REGION, name, region, ETHOSU_REGIONS);
  }
  uint64_t size = run->regions[region].bytes;
  if (address > size || bytes > size - address) {
    return ethosu_fail(run, ETHOSU_MODEL_ADDRESS, name, address + bytes, size);
  }
  *memory = run->regions[region].base + (size_t)address;
  return true;
}

/* Where the tables lie in the NPU's memory: at the end of a core's share. */
static uint32_t tables_address(const struct ethosu_run* run) {
  uint32_t kilobytes = run->model->config >> 8 & 0xffu;
  uint32_t cores = (run->model->config & 15u) == 9u ? 2u : 1u;
  return (kilobytes / cores - 2u) * 1024u;
}

static bool check_step(struct ethosu_run* run, const char* name, uint64_t value) {
  return value % STEP_BYTES == 0u || ethosu_fail(run, ETHOSU_MODEL_ALIGNMENT, name, value, STEP_BYTES);
}

static bool copy(struct ethosu_run* run) {
  unsigned from = ethosu_word(run, ETHOSU_DMA0_SRC_REGION);
  unsigned to = ethosu_word(run, ETHOSU_DMA0_DST_REGION);
  uint64_t source = ethosu_address(run, ETHOSU_DMA0_SRC);
  uint64_t target = ethosu_address(run, ETHOSU_DMA0_DST);
  uint64_t bytes = ethosu_address(run, ETHOSU_DMA0_LEN);
  uint8_t* source_memory;
  uint8_t* target_memory;
  if (((from | to) & STRIDED) != 0u || (from & INSIDE) != 0u) {
    return ethosu_fail(run, ETHOSU_MODEL_UNKNOWN_FUNCTION, "mode of a DMA", from | to, INSIDE);
  }
  bool is_inside = (to & INSIDE) != 0u;
  if (is_inside && !(check_step(run, "DMA destination", target) && check_step(run, "DMA length", bytes))) {
    return false;
  }
  if (!ethosu_range(run, "DMA source", from & 0xffu, source, bytes, &source_memory) || !ethosu_spend(run, bytes)) {
    return false;
  }
  if (is_inside) {
    uint64_t tables = tables_address(run);
    if (target < tables || target > tables + ETHOSU_TABLE_BYTES || bytes > tables + ETHOSU_TABLE_BYTES - target) {
      return ethosu_fail(run, ETHOSU_MODEL_ADDRESS, "table in SHRAM", target + bytes, tables + ETHOSU_TABLE_BYTES);
    }
    target_memory = ethosu_tables() + (size_t)(target - tables);
  } else if ((to & 0xffu) == 0u) {
    return ethosu_fail(run, ETHOSU_MODEL_CONSTANT, "DMA destination", target, 0);
  } else if (!ethosu_range(run, "DMA destination", to & 0xffu, target, bytes, &target_memory)) {
    return false;
  }
  memmove(target_memory, source_memory, (size_t)bytes);
  return true;
}

static void watch(const struct ethosu_run* run, unsigned opcode, unsigned function, const struct ethosu_map* ofm) {
  if (run->model->watcher == NULL) {
    return;
  }
  struct ethosu_model_operation operation = {
      .number = run->operation,
      .offset = run->offset,
      .kind = opcode,
      .function = function,
      .region = ethosu_word(run, ETHOSU_OFM_REGION),
      .base = ethosu_address(run, ETHOSU_OFM_BASE0),
      .height = ofm->height,
      .width = ofm->width,
      .depth = ofm->depth,
      .bytes = ofm->bytes,
      .is_signed = ofm->is_signed,
      .ofm = ofm,
  };
  run->model->watcher(&operation, run->model->user);
}

static bool operate(struct ethosu_run* run, unsigned opcode, unsigned function) {
  struct ethosu_output out;
  ++run->operation;
  if (!ethosu_spend(run, 1) || !ethosu_output_open(run, &out)) {
    return false;
  }
  bool is_done = false;
  switch (opcode) {
    case ETHOSU_CONVOLUTION:
    case ETHOSU_DEPTHWISE:
      is_done = ethosu_convolve(run, &out, opcode == ETHOSU_DEPTHWISE);
      break;
    case ETHOSU_POOL:
      is_done = ethosu_pool(run, &out, function);
      break;
    default:
      is_done = ethosu_elementwise(run, &out, function);
      break;
  }
  if (is_done) {
    watch(run, opcode, function, &out.map);
  }
  return is_done;
}

/* A command of one word, other than STOP. */
static bool command(struct ethosu_run* run, unsigned opcode, unsigned parameter) {
  switch (opcode) {
    case OP_IRQ:
    case OP_DMA_WAIT:
    case OP_KERNEL_WAIT:
    case OP_PMU_MASK:
      return true;
    case OP_DMA_START:
      return copy(run);
    case ETHOSU_CONVOLUTION:
    case ETHOSU_DEPTHWISE:
    case ETHOSU_POOL:
    case ETHOSU_ELEMENTWISE:
      return operate(run, opcode, parameter);
    default:
      break;
  }
  unsigned at = opcode - ETHOSU_WORD_FIRST;
  if (opcode < ETHOSU_WORD_FIRST || at >= ETHOSU_WORD_COUNT || (known_words[at / 16u] >> (at % 16u) & 1) == 0) {
    return ethosu_fail(run, ETHOSU_MODEL_COMMAND, "command", opcode, 0);
  }
  run->words[at] = (uint16_t)parameter;
  return true;
}

bool ethosu_execute(struct ethosu_run* run, const uint8_t* stream, uint32_t words, uint32_t offset) {
  for (uint32_t at = 0; at < words; ++at) {
    uint32_t word = ethosu_word_at(stream, at);
    unsigned opcode = word & 0x3ffu;
    run->offset = offset + 4u * at;
    run->command = word;
    if (KIND(word) == 0u) {
      if (opcode == OP_STOP) {
        return true;
      }
      if (!command(run, opcode, word >> 16)) {
        return false;
      }
    } else if (KIND(word) == 1u && opcode < ETHOSU_WIDE_COUNT && (known_wides[opcode / 16u] >> (opcode % 16u) & 1) != 0) {
      if (++at == words) {
        break;
      }
      run->wides[opcode] = (uint64_t)(word >> 16) << 32 | ethosu_word_at(stream, at);
    } else {
      return ethosu_fail(run, ETHOSU_MODEL_COMMAND, "command", opcode, 1);
    }
  }
  return ethosu_fail(run, ETHOSU_MODEL_CUT, "command stream", words, words);
}
