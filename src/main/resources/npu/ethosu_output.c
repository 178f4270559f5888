/* SPDX-License-Identifier: Apache-2.0
 *
 * What an operation does with its results: scale, zero point, limits, table, memory.
 */
#include "ethosu_internal.h"

/* ACTIVATION: the function's low bits, and the type that results are limited to before a table. */
#define FUNCTION(word) ((word)&31u)
#define TABLE_FIRST 16u
#define SMALL_TABLE 256u
#define LIMIT(word) ((word) >> 12 & 7u)

enum { LIMIT_NONE = 0, LIMIT_UINT8 = 2, LIMIT_INT8 = 3, LIMIT_INT16 = 5 };

#define HALF_OF_MANY ((int64_t)1 << 30) /* what gemmlowp's first rounding adds */

static const struct ethosu_map_registers ofm_registers = {"OFM",
                                                          ETHOSU_OFM_REGION,
                                                          ETHOSU_OFM_WIDTH0_M1,
                                                          ETHOSU_OFM_ZERO_POINT,
                                                          ETHOSU_OFM_BASE0,
                                                          ETHOSU_OFM_STRIDE_X};

/* Tables stay from one payload to the next, as in the NPU. */
static uint8_t tables[ETHOSU_TABLE_BYTES] __attribute__((aligned(4)));

uint8_t* ethosu_tables(void) {
  return tables;
}

/* A number of 96 bits, in two's complement. */
struct wide {
  int64_t high;
  uint32_t low;
};

static struct wide times(int64_t value, uint32_t multiplier) {
  uint64_t low = (uint64_t)(uint32_t)value * multiplier;
  /* value >> 32 has 32 bits, so that the product fits. */
  int64_t high = (value >> 32) * (int64_t)multiplier;
  return (struct wide){high + (int64_t)(low >> 32), (uint32_t)low};
}

/* Adds sign * 2^power. */
static struct wide plus_power(struct wide a, unsigned power, bool is_negative) {
  if (power >= 32u) {
    int64_t step = (int64_t)1 << (power - 32u);
    a.high += is_negative ? -step : step;
    return a;
  }
  uint64_t low = (uint64_t)a.low;
  uint32_t step = (uint32_t)1 << power;
  if (is_negative) {
    a.high -= low < step ? 1 : 0;
    a.low -= step;
  } else {
    a.high += (int64_t)((low + step) >> 32);
    a.low += step;
  }
  return a;
}

/* Divides by a power of two and rounds down; a quotient beyond 62 bits becomes the greatest of its sign. */
static int64_t shifted(struct wide a, unsigned shift) {
  if (shift >= 32u) {
    return a.high >> (shift - 32u);
  }
  int64_t most = (int64_t)1 << (30u + shift);
  if (a.high >= most || a.high < -most) {
    return a.high < 0 ? -((int64_t)1 << 62) : (int64_t)1 << 62;
  }
  return (int64_t)(((uint64_t)a.high << (32u - shift)) | (uint64_t)a.low >> shift);
}

int64_t ethosu_round(int64_t value, uint32_t multiplier, unsigned shift, enum ethosu_rounding rounding) {
  if (rounding == ETHOSU_TRUNCATE) {
    int64_t quotient = shifted(times(value < 0 ? -value : value, multiplier), shift);
    return value < 0 ? -quotient : quotient;
  }
  struct wide product = times(value, multiplier);
  if (shift > 0u) {
    product = plus_power(product, shift - 1u, false);
  }
  if (rounding == ETHOSU_TFL && shift > 31u) {
    product = plus_power(product, 30, value < 0);
  }
  return shifted(product, shift);
}

/* The limits of the OFM's elements, or of what the table before them takes. */
static bool limits(struct ethosu_run* run, struct ethosu_output* out, unsigned activation) {
  const struct ethosu_map* map = &out->map;
  bool is_signed = map->is_signed;
  unsigned bits = map->bytes == 1u ? 8u : 16u;
  switch (LIMIT(activation)) {
    case LIMIT_NONE:
      break;
    case LIMIT_UINT8:
    case LIMIT_INT8:
      is_signed = LIMIT(activation) == LIMIT_INT8;
      bits = 8;
      break;
    case LIMIT_INT16:
      is_signed = true;
      bits = 16;
      break;
    default:
      return ethosu_fail(run, ETHOSU_MODEL_REGISTER, "ACTIVATION", activation, LIMIT_INT16);
  }
  int32_t first = is_signed ? -(1 << (bits - 1u)) : 0;
  int32_t last = first + (1 << bits) - 1;
  int32_t low = ethosu_number(ethosu_word(run, ETHOSU_ACTIVATION_MIN), map->is_signed);
  int32_t high = ethosu_number(ethosu_word(run, ETHOSU_ACTIVATION_MAX), map->is_signed);
  out->low = (int32_t)ethosu_clamp(low, first, last);
  out->high = (int32_t)ethosu_clamp(high, first, last);
  out->first = first;
  if (FUNCTION(activation) >= TABLE_FIRST && map->bytes != 2u && bits != 8u) {
    return ethosu_fail(run, ETHOSU_MODEL_REGISTER, "ACTIVATION", activation, LIMIT_INT8);
  }
  return true;
}

static bool open_table(struct ethosu_run* run, struct ethosu_output* out, unsigned activation) {
  static const uint32_t sizes[] = {0, SMALL_TABLE, 2048, 0, 1024}; /* by the bytes of an element */
  out->table = NULL;
  if (FUNCTION(activation) == 0u) {
    return true;
  }
  if (FUNCTION(activation) < TABLE_FIRST) {
    return ethosu_fail(run, ETHOSU_MODEL_UNKNOWN_FUNCTION, "ACTIVATION", activation, 0);
  }
  uint32_t size = sizes[out->map.bytes];
  uint32_t index = FUNCTION(activation) - TABLE_FIRST;
  /* Of larger tables, Vela 3 counts the tables before, and Vela 4 the steps of 256 bytes. */
  uint32_t at = index * (index % (size / SMALL_TABLE) == 0u ? SMALL_TABLE : size);
  if (at + size > ETHOSU_TABLE_BYTES) {
    return ethosu_fail(run, ETHOSU_MODEL_REGISTER, "table", index, ETHOSU_TABLE_BYTES / size);
  }
  out->table = tables + at;
  return true;
}

bool ethosu_output_open(struct ethosu_run* run, struct ethosu_output* out) {
  unsigned precision = ethosu_word(run, ETHOSU_OFM_PRECISION);
  unsigned activation = ethosu_word(run, ETHOSU_ACTIVATION);
  struct ethosu_map* map = &out->map;
  if ((precision >> 1 & 3u) == 3u || precision >> 14 == 3u) {
    return ethosu_fail(run, ETHOSU_MODEL_REGISTER, "OFM_PRECISION", precision, 2);
  }
  if (ethosu_word(run, ETHOSU_OFM_REGION) == 0u) {
    return ethosu_fail(run, ETHOSU_MODEL_CONSTANT, "OFM", ethosu_address(run, ETHOSU_OFM_BASE0), 0);
  }
  map->height = ethosu_word(run, ETHOSU_OFM_HEIGHT_M1) + 1u;
  map->width = ethosu_word(run, ETHOSU_OFM_WIDTH_M1) + 1u;
  map->depth = ethosu_word(run, ETHOSU_OFM_DEPTH_M1) + 1u;
  map->bytes = 1u << (precision >> 1 & 3u);
  map->is_signed = (precision & 1u) != 0u;
  map->is_blocked = (precision >> 6 & 1u) != 0u;
  out->has_global_scale = (precision >> 8 & 1u) != 0u;
  out->rounding = (enum ethosu_rounding)(precision >> 14);
  out->multiplier = (uint32_t)run->wides[ETHOSU_OFM_SCALE];
  out->shift = ethosu_shift(run, ETHOSU_OFM_SCALE);
  return open_table(run, out, activation) && limits(run, out, activation) && ethosu_map_open(run, map, &ofm_registers);
}

/* 512 points with the slope after each; 128 values lie between two points. */
static int64_t interpolated(const struct ethosu_output* out, int64_t value) {
  uint32_t index = (uint32_t)(value - (out->map.is_signed ? -0x8000 : 0));
  const uint8_t* entry = out->table + 4u * (index / 128u % 512u);
  int32_t base = (int32_t)ethosu_load(entry, 2, out->map.is_signed);
  int32_t slope = (int32_t)ethosu_load(entry + 2, 2, true);
  return base + ((slope * (int32_t)(index % 128u) + 64) >> 7);
}

static int64_t looked_up(const struct ethosu_output* out, int64_t value) {
  const struct ethosu_map* map = &out->map;
  if (map->bytes == 2u) {
    int64_t first = map->is_signed ? -0x8000 : 0;
    return ethosu_clamp(interpolated(out, value), first, first + 0xffff);
  }
  uint32_t index = (uint32_t)(value - out->first) & 0xffu;
  return ethosu_load(out->table + index * map->bytes, map->bytes, map->is_signed);
}

void ethosu_store(const struct ethosu_output* out, uint32_t y, uint32_t x, uint32_t c, int64_t value) {
  const struct ethosu_map* map = &out->map;
  uint8_t* at = ethosu_at(map, y, x, c);
  if (map->bytes == 4u && out->table == NULL) {
    uint32_t word = (uint32_t)ethosu_clamp(value, INT32_MIN, INT32_MAX);
    memcpy(at, &word, sizeof(word));
    return;
  }
  value = ethosu_clamp(value + map->zero, out->low, out->high);
  if (out->table != NULL) {
    value = looked_up(out, value);
  }
  if (map->bytes == 1u) {
    *at = (uint8_t)value;
  } else if (map->bytes == 2u) {
    uint16_t half = (uint16_t)value;
    memcpy(at, &half, sizeof(half));
  } else {
    uint32_t word = (uint32_t)value;
    memcpy(at, &word, sizeof(word));
  }
}
