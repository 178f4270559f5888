/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads feature maps and windows from the registers. All memory of a map is checked here, so that operations need not.
 */
#include "ethosu_internal.h"

#define SMALL_PARTS 0x20u /* parts of kernels have 4 by 4 elements; no compiler asks for it */
#define BLOCKED_BYTES 16u /* granularity of a map in NHCWB16 */

static const struct ethosu_map_registers ifm_registers = {"IFM",
                                                          ETHOSU_IFM_REGION,
                                                          ETHOSU_IFM_WIDTH0_M1,
                                                          ETHOSU_IFM_ZERO_POINT,
                                                          ETHOSU_IFM_BASE0,
                                                          ETHOSU_IFM_STRIDE_X};

/* Where a tile's elements lie, counted from its first element. */
struct extent {
  int64_t first; /* 0 or less */
  int64_t last;
};

static void extend(struct extent* extent, int64_t way) {
  if (way < 0) {
    extent->first += way;
  } else {
    extent->last += way;
  }
}

static struct extent tile_extent(const struct ethosu_run* run, const struct ethosu_map* map, unsigned stride_x,
                                 uint32_t rows, uint32_t columns) {
  struct extent extent = {0, 0};
  extend(&extent, (int64_t)(rows - 1u) * ethosu_stride(run, stride_x + 1u));
  extend(&extent, (int64_t)(columns - 1u) * ethosu_stride(run, stride_x));
  uint32_t last = map->depth - 1u;
  if (!map->is_blocked || last < 16u) {
    extend(&extent, (int64_t)last * map->bytes);
    return extent;
  }
  /* To the last whole block, or to the last one if that lies farther on. */
  int64_t stride = ethosu_stride(run, stride_x + 2u);
  int64_t whole = (int64_t)(last / 16u - 1u) * stride;
  int64_t rest = stride + (int64_t)(last % 16u * map->bytes) - (int64_t)(15u * map->bytes);
  extend(&extent, whole);
  extend(&extent, (int64_t)(15u * map->bytes));
  extend(&extent, rest);
  return extent;
}

static bool open_tile(struct ethosu_run* run, struct ethosu_map* map, const struct ethosu_map_registers* registers,
                      unsigned tile, uint32_t rows, uint32_t columns) {
  map->tiles[tile] = NULL;
  if (rows == 0u || columns == 0u) {
    return true;
  }
  uint64_t base = ethosu_address(run, registers->base0 + tile);
  uint32_t step = map->is_blocked ? BLOCKED_BYTES : map->bytes;
  if (base % step != 0u) {
    return ethosu_fail(run, ETHOSU_MODEL_ALIGNMENT, registers->name, base, step);
  }
  struct extent extent = tile_extent(run, map, registers->stride_x, rows, columns);
  int64_t first = (int64_t)base + extent.first;
  uint64_t bytes = (uint64_t)(extent.last - extent.first) + map->bytes;
  uint8_t* memory;
  if (first < 0) {
    return ethosu_fail(run, ETHOSU_MODEL_ADDRESS, registers->name, (uint64_t)first, 0);
  }
  if (!ethosu_range(run, registers->name, ethosu_word(run, registers->region), (uint64_t)first, bytes, &memory)) {
    return false;
  }
  map->tiles[tile] = memory - (ptrdiff_t)extent.first;
  return true;
}

static uint32_t least(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

/* Fills in what the registers say of a map, whose size, elements and layout are known. */
bool ethosu_map_open(struct ethosu_run* run, struct ethosu_map* map, const struct ethosu_map_registers* registers) {
  map->width0 = ethosu_word(run, registers->width0);
  map->height0 = ethosu_word(run, registers->width0 + 1u);
  map->height1 = ethosu_word(run, registers->width0 + 2u);
  map->zero = ethosu_number(ethosu_word(run, registers->zero_point), map->is_signed);
  int64_t strides[3];
  for (unsigned i = 0; i < 3u; ++i) {
    strides[i] = ethosu_stride(run, registers->stride_x + i);
    bool is_used = i < 2u || (map->is_blocked && map->depth > 16u);
    if (is_used && strides[i] % (int64_t)map->bytes != 0) {
      return ethosu_fail(run, ETHOSU_MODEL_ALIGNMENT, registers->name, (uint64_t)strides[i], map->bytes);
    }
  }
  /* A stride that does not fit into ptrdiff_t leaves the region, or is not used. */
  map->stride_x = (ptrdiff_t)strides[0];
  map->stride_y = (ptrdiff_t)strides[1];
  map->stride_c = (ptrdiff_t)strides[2];
  uint32_t left = least(map->width, map->width0 + 1u);
  uint32_t right = map->width - left;
  uint32_t upper = least(map->height, map->height0 + 1u);
  uint32_t upper_right = least(map->height, map->height1 + 1u);
  return open_tile(run, map, registers, 0, upper, left) && open_tile(run, map, registers, 1, upper_right, right) &&
         open_tile(run, map, registers, 2, map->height - upper, left) &&
         open_tile(run, map, registers, 3, map->height - upper_right, right);
}

bool ethosu_ifm_open(struct ethosu_run* run, struct ethosu_map* map, uint32_t height, uint32_t width, uint32_t depth) {
  unsigned precision = ethosu_word(run, ETHOSU_IFM_PRECISION);
  if ((precision >> 2 & 3u) == 3u) {
    return ethosu_fail(run, ETHOSU_MODEL_REGISTER, "IFM_PRECISION", precision, 3);
  }
  map->height = height;
  map->width = width;
  map->depth = depth;
  map->bytes = 1u << (precision >> 2 & 3u);
  map->is_signed = (precision & 1u) != 0u;
  map->is_blocked = (precision >> 6 & 1u) != 0u;
  return ethosu_map_open(run, map, &ifm_registers);
}

bool ethosu_kernel_open(struct ethosu_run* run, struct ethosu_kernel* kernel, const struct ethosu_map* ofm) {
  unsigned bits = ethosu_word(run, ETHOSU_KERNEL_STRIDE);
  int32_t height = (int32_t)ethosu_word(run, ETHOSU_KERNEL_HEIGHT_M1);
  int32_t width = (int32_t)ethosu_word(run, ETHOSU_KERNEL_WIDTH_M1);
  kernel->stride_x = (int32_t)((bits & 1u) | (bits >> 6 & 7u) << 1) + 1;
  kernel->stride_y = (int32_t)((bits >> 1 & 1u) | (bits >> 9 & 7u) << 1) + 1;
  kernel->is_part_first = (bits >> 2 & 1u) != 0u;
  kernel->dilation_x = (int32_t)(bits >> 3 & 1u) + 1;
  kernel->dilation_y = (int32_t)(bits >> 4 & 1u) + 1;
  kernel->height = height / kernel->dilation_y + 1;
  kernel->width = width / kernel->dilation_x + 1;
  kernel->top = (int32_t)ethosu_word(run, ETHOSU_IFM_PAD_TOP);
  kernel->left = (int32_t)ethosu_word(run, ETHOSU_IFM_PAD_LEFT);
  kernel->upscale = ethosu_word(run, ETHOSU_IFM_UPSCALE);
  if ((bits & SMALL_PARTS) != 0u) {
    return ethosu_fail(run, ETHOSU_MODEL_REGISTER, "KERNEL_STRIDE", bits, SMALL_PARTS - 1u);
  }
  if (kernel->upscale > 2u) {
    return ethosu_fail(run, ETHOSU_MODEL_REGISTER, "IFM_UPSCALE", kernel->upscale, 2);
  }
  kernel->ifm_height = (int32_t)(ofm->height - 1u) * kernel->stride_y + height + 1 - kernel->top -
                       (int32_t)ethosu_word(run, ETHOSU_IFM_PAD_BOTTOM);
  kernel->ifm_width = (int32_t)(ofm->width - 1u) * kernel->stride_x + width + 1 - kernel->left -
                      (int32_t)ethosu_word(run, ETHOSU_IFM_PAD_RIGHT);
  if (kernel->ifm_height < 1 || kernel->ifm_width < 1) {
    return ethosu_fail(run, ETHOSU_MODEL_SHAPE, "padding and window", (uint64_t)kernel->top, (uint64_t)height + 1u);
  }
  return true;
}
