/* SPDX-License-Identifier: Apache-2.0
 *
 * Pools: the greatest, the average or the sum of a window.
 */
#include "ethosu_internal.h"

#define MOST_SUM ((int64_t)1 << 62) /* of elements of 32 bits, which a small map may have without end */

enum { POOL_MAX, POOL_AVERAGE, POOL_SUM };

/* What was found in a window. */
struct found {
  int64_t most;
  int64_t sum;
  int64_t count;
};

/* Takes one channel of a window; elements outside of the IFM count for nothing. */
static void take(const struct ethosu_map* ifm, const struct ethosu_kernel* kernel, uint32_t y, uint32_t x, uint32_t c,
                 struct found* found) {
  int32_t scale = kernel->upscale == 0u ? 1 : 2;
  for (int32_t i = 0; i < kernel->height; ++i) {
    int32_t row = (int32_t)y * kernel->stride_y + i * kernel->dilation_y - kernel->top;
    if (row < 0 || row >= kernel->ifm_height) {
      continue;
    }
    for (int32_t k = 0; k < kernel->width; ++k) {
      int32_t column = (int32_t)x * kernel->stride_x + k * kernel->dilation_x - kernel->left;
      if (column < 0 || column >= kernel->ifm_width) {
        continue;
      }
      int64_t value = 0;
      if (kernel->upscale != 2u || (row % 2 == 0 && column % 2 == 0)) {
        const uint8_t* at = ethosu_at(ifm, (uint32_t)(row / scale), (uint32_t)(column / scale), c);
        value = ethosu_load(at, ifm->bytes, ifm->is_signed) - ifm->zero;
      }
      found->sum = ethosu_clamp(found->sum + value, -MOST_SUM, MOST_SUM);
      found->most = found->count == 0 || value > found->most ? value : found->most;
      ++found->count;
    }
  }
}

/* Half away from zero. */
static int64_t divided(int64_t sum, int64_t count) {
  if (count == 0) {
    return 0;
  }
  return sum < 0 ? -((-sum + count / 2) / count) : (sum + count / 2) / count;
}

static int64_t result(const struct ethosu_output* out, unsigned function, const struct found* found) {
  if (function == POOL_MAX) {
    return found->count == 0 ? INT32_MIN : found->most;
  }
  if (out->has_global_scale) {
    return ethosu_round(found->sum, out->multiplier, out->shift, out->rounding);
  }
  return function == POOL_AVERAGE ? divided(found->sum, found->count) : found->sum;
}

bool ethosu_pool(struct ethosu_run* run, struct ethosu_output* out, unsigned function) {
  struct ethosu_kernel kernel;
  struct ethosu_map ifm;
  if (function > POOL_SUM) {
    return ethosu_fail(run, ETHOSU_MODEL_COMMAND, "kind of a pool", function, POOL_SUM);
  }
  if (!ethosu_kernel_open(run, &kernel, &out->map)) {
    return false;
  }
  uint32_t scale = kernel.upscale == 0u ? 1u : 2u;
  uint32_t inputs = ethosu_word(run, ETHOSU_IFM_DEPTH_M1) + 1u;
  uint32_t depth = function == POOL_SUM ? inputs : out->map.depth;
  if (function == POOL_SUM && out->map.depth != 1u) {
    return ethosu_fail(run, ETHOSU_MODEL_SHAPE, "OFM depth of a sum", out->map.depth, 1);
  }
  if (!ethosu_ifm_open(run, &ifm, ((uint32_t)kernel.ifm_height + scale - 1u) / scale,
                       ((uint32_t)kernel.ifm_width + scale - 1u) / scale, depth)) {
    return false;
  }
  uint32_t sums = depth / out->map.depth;
  for (uint32_t y = 0; y < out->map.height; ++y) {
    for (uint32_t x = 0; x < out->map.width; ++x) {
      for (uint32_t c = 0; c < out->map.depth; ++c) {
        struct found found = {0};
        if (!ethosu_spend(run, (uint64_t)kernel.height * (uint64_t)kernel.width * sums)) {
          return false;
        }
        for (uint32_t i = 0; i < sums; ++i) {
          take(&ifm, &kernel, y, x, c + i, &found);
        }
        ethosu_store(out, y, x, c, result(out, function, &found));
      }
    }
  }
  return true;
}
