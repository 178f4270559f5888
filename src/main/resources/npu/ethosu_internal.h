/* SPDX-License-Identifier: Apache-2.0
 *
 * What the model's files share: the NPU's registers, feature maps, the weight decoder, and what an operation writes.
 */
#ifndef ETHOSU_INTERNAL_H
#define ETHOSU_INTERNAL_H
#include <string.h>

#include "ethosu_driver.h"

#define ETHOSU_REGIONS 8u
#define ETHOSU_TABLE_BYTES 2048u

/* Opcodes of operations. */
enum { ETHOSU_CONVOLUTION = 2, ETHOSU_DEPTHWISE = 3, ETHOSU_POOL = 5, ETHOSU_ELEMENTWISE = 6 };

/* Opcodes of registers of 16 bits, which commands of one word set. */
enum {
  ETHOSU_IFM_PAD_TOP = 0x100,
  ETHOSU_IFM_PAD_LEFT = 0x101,
  ETHOSU_IFM_PAD_RIGHT = 0x102,
  ETHOSU_IFM_PAD_BOTTOM = 0x103,
  ETHOSU_IFM_DEPTH_M1 = 0x104,
  ETHOSU_IFM_PRECISION = 0x105,
  ETHOSU_IFM_UPSCALE = 0x107,
  ETHOSU_IFM_ZERO_POINT = 0x109,
  ETHOSU_IFM_WIDTH0_M1 = 0x10a, /* then HEIGHT0_M1, HEIGHT1_M1 */
  ETHOSU_IFM_REGION = 0x10f,
  ETHOSU_OFM_WIDTH_M1 = 0x111,
  ETHOSU_OFM_HEIGHT_M1 = 0x112,
  ETHOSU_OFM_DEPTH_M1 = 0x113,
  ETHOSU_OFM_PRECISION = 0x114,
  ETHOSU_OFM_BLK_DEPTH_M1 = 0x117,
  ETHOSU_OFM_ZERO_POINT = 0x118,
  ETHOSU_OFM_WIDTH0_M1 = 0x11a,
  ETHOSU_OFM_REGION = 0x11f,
  ETHOSU_KERNEL_WIDTH_M1 = 0x120,
  ETHOSU_KERNEL_HEIGHT_M1 = 0x121,
  ETHOSU_KERNEL_STRIDE = 0x122,
  ETHOSU_PARALLEL_MODE = 0x123,
  ETHOSU_ACTIVATION = 0x125,
  ETHOSU_ACTIVATION_MIN = 0x126,
  ETHOSU_ACTIVATION_MAX = 0x127,
  ETHOSU_WEIGHT_REGION = 0x128,
  ETHOSU_SCALE_REGION = 0x129,
  ETHOSU_DMA0_SRC_REGION = 0x130,
  ETHOSU_DMA0_DST_REGION = 0x131,
  ETHOSU_IFM2_BROADCAST = 0x180,
  ETHOSU_IFM2_SCALAR = 0x181,
  ETHOSU_IFM2_PRECISION = 0x185,
  ETHOSU_IFM2_ZERO_POINT = 0x189,
  ETHOSU_IFM2_WIDTH0_M1 = 0x18a,
  ETHOSU_IFM2_REGION = 0x18f,
  ETHOSU_WORD_FIRST = 0x100,
  ETHOSU_WORD_COUNT = 0x90
};

/* Opcodes of registers with a payload; they hold parameter * 2^32 + payload. */
enum {
  ETHOSU_IFM_BASE0 = 0x00,
  ETHOSU_IFM_STRIDE_X = 0x04, /* then Y, C */
  ETHOSU_OFM_BASE0 = 0x10,
  ETHOSU_OFM_STRIDE_X = 0x14,
  ETHOSU_WEIGHT_BASE = 0x20, /* then LENGTH */
  ETHOSU_SCALE_BASE = 0x22,
  ETHOSU_OFM_SCALE = 0x24,
  ETHOSU_OPA_SCALE = 0x25,
  ETHOSU_OPB_SCALE = 0x26,
  ETHOSU_DMA0_SRC = 0x30,
  ETHOSU_DMA0_DST = 0x31,
  ETHOSU_DMA0_LEN = 0x32,
  ETHOSU_IFM2_BASE0 = 0x80,
  ETHOSU_IFM2_STRIDE_X = 0x84,
  ETHOSU_WEIGHT1_BASE = 0x90,
  ETHOSU_SCALE1_BASE = 0x92,
  ETHOSU_WIDE_COUNT = 0x94
};

/* How results are rounded: as TensorFlow Lite does, toward zero, half up. */
enum ethosu_rounding { ETHOSU_TFL, ETHOSU_TRUNCATE, ETHOSU_NATURAL };

/* Memory that the firmware gave. */
struct ethosu_region {
  uint8_t* base;
  uint64_t bytes;
};

/* The execution of a payload. */
struct ethosu_run {
  struct ethosu_model* model;
  struct ethosu_region regions[ETHOSU_REGIONS];
  uint16_t words[ETHOSU_WORD_COUNT];
  uint64_t wides[ETHOSU_WIDE_COUNT];
  uint64_t work; /* that is left */
  uint32_t offset;
  uint32_t command;
  uint32_t operation;
};

/* A feature map in memory, in up to four tiles. */
struct ethosu_map {
  uint8_t* tiles[4];
  uint32_t height;
  uint32_t width;
  uint32_t depth;
  uint32_t width0;  /* last column of the left tiles */
  uint32_t height0; /* last row of the upper left tile */
  uint32_t height1; /* last row of the upper right tile */
  ptrdiff_t stride_y; /* less than 0 if the map is written from its end */
  ptrdiff_t stride_x;
  ptrdiff_t stride_c; /* from 16 channels to the next 16, if is_blocked */
  uint32_t bytes;  /* of an element */
  bool is_signed;
  bool is_blocked;
  int32_t zero; /* the zero point */
};

/* Which registers describe a feature map. */
struct ethosu_map_registers {
  const char* name;
  uint16_t region;
  uint16_t width0;
  uint16_t zero_point;
  uint16_t base0;
  uint16_t stride_x;
};

/* The window of a convolution or pool, and the IFM's size, which follows from it. */
struct ethosu_kernel {
  int32_t height;
  int32_t width;
  int32_t dilation_y;
  int32_t dilation_x;
  int32_t stride_y;
  int32_t stride_x;
  int32_t top;
  int32_t left;
  int32_t ifm_height; /* upscaled, as the window sees it */
  int32_t ifm_width;
  unsigned upscale; /* 0 no, 1 nearest, 2 zeros between */
  bool is_part_first;
};

/* The end of an operation: scale, zero point, limits, table, memory. */
struct ethosu_output {
  struct ethosu_map map;
  enum ethosu_rounding rounding;
  bool has_global_scale;
  uint32_t multiplier; /* of the global scale */
  unsigned shift;
  int32_t low;
  int32_t high;
  const uint8_t* table; /* NULL if there is none */
  int32_t first;        /* the value of the table's first entry */
};

/* Quotients that were read together. */
struct ethosu_chunk {
  unsigned weights;
  unsigned runs;
  uint32_t weight_quotients[12];
  uint32_t run_quotients[12];
};

/* Decodes a stream of weights. */
struct ethosu_weights {
  const uint8_t* data;
  size_t bytes;
  size_t at;
  uint64_t* work;
  uint32_t held; /* bits that were read and not yet taken */
  unsigned held_bits;
  enum ethosu_model_reason reason; /* why it failed; else ETHOSU_MODEL_OK */
  bool is_first;                   /* the next slice brings a palette */
  bool has_runs;                   /* weights are followed by runs of zeros */
  bool is_uncompressed;
  bool is_truncated;
  bool is_leading; /* a run comes before the first weight */
  unsigned zero_mode;
  unsigned divisor;
  unsigned palette_size;
  unsigned palette_bits;
  unsigned direct_offset;
  uint16_t palette[32];
  int32_t weights_total; /* of the slice */
  int32_t weights_read;  /* quotients */
  int32_t weights_done;  /* remainders as well */
  int32_t runs_total;
  int32_t runs_read;
  int32_t runs_done;
  uint32_t weight_carry;
  uint32_t run_carry;
  struct ethosu_chunk before; /* its remainders come with the next chunk */
  unsigned weight_head; /* queues of what is decoded */
  unsigned weight_tail;
  unsigned run_head;
  unsigned run_tail;
  int16_t weight_queue[64];
  uint32_t run_queue[64];
  uint32_t zeros; /* to come before the next weight */
};

/* ethosu_commands.c */
bool ethosu_execute(struct ethosu_run* run, const uint8_t* stream, uint32_t words, uint32_t offset);
bool ethosu_fail(struct ethosu_run* run, enum ethosu_model_reason reason, const char* subject, uint64_t value,
                 uint64_t limit);
bool ethosu_range(struct ethosu_run* run, const char* name, unsigned region, uint64_t address, uint64_t bytes,
                  uint8_t** memory);

/* ethosu_maps.c */
bool ethosu_map_open(struct ethosu_run* run, struct ethosu_map* map, const struct ethosu_map_registers* registers);
bool ethosu_ifm_open(struct ethosu_run* run, struct ethosu_map* map, uint32_t height, uint32_t width, uint32_t depth);
bool ethosu_kernel_open(struct ethosu_run* run, struct ethosu_kernel* kernel, const struct ethosu_map* ofm);

/* ethosu_output.c: the memory of tables in the NPU, and what an operation does with its results. */
uint8_t* ethosu_tables(void);
bool ethosu_output_open(struct ethosu_run* run, struct ethosu_output* out);
int64_t ethosu_round(int64_t value, uint32_t multiplier, unsigned shift, enum ethosu_rounding rounding);
void ethosu_store(const struct ethosu_output* out, uint32_t y, uint32_t x, uint32_t c, int64_t value);

/* ethosu_weights.c */
void ethosu_weights_open(struct ethosu_weights* weights, const uint8_t* data, size_t bytes, uint64_t* work);
int ethosu_weights_next(struct ethosu_weights* weights);
void ethosu_weights_close(struct ethosu_weights* weights);

/* The operations. */
bool ethosu_convolve(struct ethosu_run* run, struct ethosu_output* out, bool is_depthwise);
bool ethosu_pool(struct ethosu_run* run, struct ethosu_output* out, unsigned function);
bool ethosu_elementwise(struct ethosu_run* run, struct ethosu_output* out, unsigned function);

static inline unsigned ethosu_word(const struct ethosu_run* run, unsigned opcode) {
  return run->words[opcode - ETHOSU_WORD_FIRST];
}

/* An address, a stride or a length has 40 bits. */
static inline uint64_t ethosu_address(const struct ethosu_run* run, unsigned opcode) {
  return run->wides[opcode] & 0xffffffffffull;
}

/* A stride has a sign; those of a U55 have 32 bits. */
static inline int64_t ethosu_stride(const struct ethosu_run* run, unsigned opcode) {
  unsigned bits = run->model->config >> 28 == 0u ? 32u : 40u;
  uint64_t sign = 1ull << (bits - 1u);
  uint64_t value = run->wides[opcode] & ((1ull << bits) - 1u);
  return (int64_t)(value ^ sign) - (int64_t)sign;
}

/* A scale's shift is the parameter's low six bits. */
static inline unsigned ethosu_shift(const struct ethosu_run* run, unsigned opcode) {
  return (unsigned)(run->wides[opcode] >> 32) & 63u;
}

/* A register of 16 bits as a number with or without a sign. */
static inline int32_t ethosu_number(unsigned word, bool is_signed) {
  return is_signed ? (int16_t)word : (int32_t)word;
}

static inline int64_t ethosu_clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

/* Counts work; false if there was too much. */
static inline bool ethosu_spend(struct ethosu_run* run, uint64_t work) {
  if (run->work < work) {
    return ethosu_fail(run, ETHOSU_MODEL_WORK_LIMIT, "work", run->model->work, run->model->work);
  }
  run->work -= work;
  return true;
}

/* Where an element lies. */
static inline uint8_t* ethosu_at(const struct ethosu_map* map, uint32_t y, uint32_t x, uint32_t c) {
  bool is_right = x > map->width0;
  uint32_t limit = is_right ? map->height1 : map->height0;
  bool is_below = y > limit;
  ptrdiff_t row = (ptrdiff_t)(is_below ? y - limit - 1u : y);
  ptrdiff_t column = (ptrdiff_t)(is_right ? x - map->width0 - 1u : x);
  ptrdiff_t depth = (ptrdiff_t)((map->is_blocked ? c % 16u : c) * map->bytes);
  if (map->is_blocked) {
    depth += (ptrdiff_t)(c / 16u) * map->stride_c;
  }
  return map->tiles[(is_right ? 1u : 0u) + (is_below ? 2u : 0u)] +
         (row * map->stride_y + column * map->stride_x + depth);
}

/* An element as it lies in memory, with its zero point. */
static inline int64_t ethosu_load(const uint8_t* at, uint32_t bytes, bool is_signed) {
  if (bytes == 1u) {
    return is_signed ? (int8_t)*at : *at;
  }
  if (bytes == 2u) {
    uint16_t value;
    memcpy(&value, at, sizeof(value));
    return is_signed ? (int16_t)value : value;
  }
  uint32_t value;
  memcpy(&value, at, sizeof(value));
  return is_signed ? (int32_t)value : (int64_t)value;
}

/* A word of a payload. */
static inline uint32_t ethosu_word_at(const uint8_t* payload, uint32_t index) {
  return (uint32_t)ethosu_load(payload + 4u * (size_t)index, 4, false);
}

#endif /* ETHOSU_INTERNAL_H */
