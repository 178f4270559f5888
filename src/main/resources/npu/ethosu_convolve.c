/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions. Weights come in the order in which the hardware takes them, each once for a block of OFM channels; so a weight is
 * multiplied with the IFM for all positions of the OFM, as many as there are accumulators for. For the positions that are left the
 * block's weights are decoded again.
 */
#include "ethosu_internal.h"

#ifndef ETHOSU_MODEL_ACCUMULATORS
#define ETHOSU_MODEL_ACCUMULATORS 4096u
#endif

#define MOST_BLOCK_DEPTH 128u /* of an OFM block, in the hardware */
#define IFM_MICRO_DEPTH 8u
#define SUBKERNEL 8
#define SCALE_BYTES 10u
#define WEIGHT_STEP 16u

_Static_assert(ETHOSU_MODEL_ACCUMULATORS >= MOST_BLOCK_DEPTH, "every channel of a block has an accumulator");

static int64_t accumulators[ETHOSU_MODEL_ACCUMULATORS];

/* What a convolution is made of; first for the whole, then for the core, the block of channels and the positions at work. */
struct convolution {
  struct ethosu_run* run;
  const struct ethosu_output* out;
  struct ethosu_map ifm;
  struct ethosu_kernel kernel;
  bool is_depthwise;
  uint32_t ifm_block; /* channels that are taken together */
  uint32_t ofm_micro; /* channels of a micro-block */
  uint32_t core;
  uint32_t cores;
  struct ethosu_weights weights;
  const uint8_t* scales;
  uint32_t first; /* channel of the block, counted in the core */
  uint32_t depth; /* channels of the block */
  uint64_t position;
  uint32_t positions;
};

/* An element of the kernel, and the columns of the OFM for which it lies in the IFM. */
struct tap {
  bool is_real; /* else padding of the weight stream */
  int32_t y;
  int32_t x;
  uint32_t from;
  uint32_t to;
};

/* The part of a kernel, and of the IFM's channels, whose weights stand together. */
struct part {
  uint32_t channel;
  uint32_t channels;
  int32_t y;
  int32_t x;
  int32_t height;
  int32_t width;
  int32_t elements;
};

static struct tap tap_at(const struct convolution* conv, const struct part* part, int32_t element) {
  const struct ethosu_kernel* kernel = &conv->kernel;
  struct tap tap = {.is_real = element < part->height * part->width};
  tap.y = (part->y + element / part->width) * kernel->dilation_y - kernel->top;
  tap.x = (part->x + element % part->width) * kernel->dilation_x - kernel->left;
  int32_t width = (int32_t)conv->out->map.width;
  int32_t from = tap.x < 0 ? (kernel->stride_x - 1 - tap.x) / kernel->stride_x : 0;
  int32_t room = kernel->ifm_width - tap.x;
  int32_t to = room <= 0 ? 0 : (room - 1) / kernel->stride_x + 1;
  tap.to = (uint32_t)(to < width ? to : width);
  tap.from = (uint32_t)from < tap.to ? (uint32_t)from : tap.to;
  return tap;
}

/* Adds a weight's products with a line of the IFM, whose elements lie a step apart. */
static void add_line(int64_t* sums, const struct ethosu_map* ifm, const uint8_t* at, ptrdiff_t step, uint32_t count,
                     int32_t weight) {
  int32_t zero = ifm->zero;
  if (ifm->bytes == 1u && ifm->is_signed) {
    for (uint32_t i = 0; i < count; ++i) {
      sums[i] += (int64_t)weight * ((int8_t)at[(ptrdiff_t)i * step] - zero);
    }
  } else if (ifm->bytes == 1u) {
    for (uint32_t i = 0; i < count; ++i) {
      sums[i] += (int64_t)weight * (at[(ptrdiff_t)i * step] - zero);
    }
  } else {
    for (uint32_t i = 0; i < count; ++i) {
      sums[i] += weight * (ethosu_load(at + (ptrdiff_t)i * step, 2, ifm->is_signed) - zero);
    }
  }
}

/* A row of an upscaled IFM: only every second row and column has elements, or each stands for two. */
static void add_upscaled(const struct convolution* conv, int64_t* sums, const struct tap* tap, uint32_t row,
                         uint32_t from, uint32_t to, uint32_t channel, int32_t weight) {
  const struct ethosu_kernel* kernel = &conv->kernel;
  bool has_zeros = kernel->upscale == 2u;
  if (has_zeros && row % 2u != 0u) {
    return;
  }
  for (uint32_t x = from; x < to; ++x) {
    uint32_t column = (uint32_t)((int32_t)x * kernel->stride_x + tap->x);
    if (!has_zeros || column % 2u == 0u) {
      add_line(sums + (x - from), &conv->ifm, ethosu_at(&conv->ifm, row / 2u, column / 2u, channel), 0, 1, weight);
    }
  }
}

/* A row of the OFM, from column x on: sums has its accumulators, as many as there are columns. */
static void add_row(const struct convolution* conv, int64_t* sums, const struct tap* tap, uint32_t y, uint32_t x,
                    uint32_t columns, uint32_t channel, int32_t weight) {
  const struct ethosu_kernel* kernel = &conv->kernel;
  const struct ethosu_map* ifm = &conv->ifm;
  int32_t row = (int32_t)y * kernel->stride_y + tap->y;
  uint32_t from = x > tap->from ? x : tap->from;
  uint32_t to = x + columns < tap->to ? x + columns : tap->to;
  if (row < 0 || row >= kernel->ifm_height || from >= to) {
    return;
  }
  sums += from - x;
  if (kernel->upscale != 0u) {
    add_upscaled(conv, sums, tap, (uint32_t)row, from, to, channel, weight);
    return;
  }
  uint32_t stride = (uint32_t)kernel->stride_x;
  uint32_t column = (uint32_t)((int32_t)from * kernel->stride_x + tap->x);
  uint32_t count = to - from;
  ptrdiff_t step = kernel->stride_x * ifm->stride_x;
  uint32_t left = column > ifm->width0 ? 0u : (ifm->width0 - column) / stride + 1u;
  left = left < count ? left : count;
  if (left > 0u) {
    add_line(sums, ifm, ethosu_at(ifm, (uint32_t)row, column, channel), step, left, weight);
  }
  if (left < count) {
    const uint8_t* at = ethosu_at(ifm, (uint32_t)row, column + left * stride, channel);
    add_line(sums + left, ifm, at, step, count - left, weight);
  }
}

/* Multiplies a weight with the IFM for all positions at work. */
static void add_weight(const struct convolution* conv, const struct tap* tap, uint32_t index, uint32_t channel,
                       int32_t weight) {
  uint32_t width = conv->out->map.width;
  uint32_t y = (uint32_t)(conv->position / width);
  uint32_t x = (uint32_t)(conv->position % width);
  int64_t* sums = accumulators + (size_t)index * conv->positions;
  for (uint32_t done = 0; done < conv->positions; x = 0, ++y) {
    uint32_t columns = width - x < conv->positions - done ? width - x : conv->positions - done;
    add_row(conv, sums + done, tap, y, x, columns, channel, weight);
    done += columns;
  }
}

/* The weights of a kernel element for a micro-block of OFM channels and one of IFM channels. */
static bool add_micro_block(struct convolution* conv, const struct tap* tap, uint32_t index, uint32_t channel) {
  uint32_t inputs = conv->is_depthwise ? 1u : IFM_MICRO_DEPTH;
  uint64_t rows = conv->positions / conv->out->map.width + 1u;
  for (uint32_t o = index; o < index + conv->ofm_micro; ++o) {
    uint32_t own = conv->is_depthwise ? (conv->first + o) * conv->cores + conv->core : channel;
    for (uint32_t i = own; i < own + inputs; ++i) {
      int32_t weight = ethosu_weights_next(&conv->weights);
      if (!ethosu_spend(conv->run, 1)) {
        return false;
      }
      if (weight == 0) {
        continue;
      }
      if (!tap->is_real || o >= conv->depth || i >= conv->ifm.depth) {
        return ethosu_fail(conv->run, ETHOSU_MODEL_WEIGHTS_INVALID, "padding of the weights", o, conv->depth);
      }
      if (!ethosu_spend(conv->run, rows + conv->positions)) {
        return false;
      }
      add_weight(conv, tap, o, i, weight);
    }
  }
  return conv->weights.reason == ETHOSU_MODEL_OK ||
         ethosu_fail(conv->run, conv->weights.reason, "weights", conv->weights.at, conv->weights.bytes);
}

static uint32_t micro_blocks(uint32_t channels) {
  return (channels + IFM_MICRO_DEPTH - 1u) / IFM_MICRO_DEPTH;
}

static bool add_part(struct convolution* conv, const struct part* part) {
  bool is_part_first = conv->kernel.is_part_first && !conv->is_depthwise;
  uint32_t blocks = conv->is_depthwise ? 1u : micro_blocks(part->channels);
  uint32_t outer = is_part_first ? blocks : 1u;
  uint32_t inner = is_part_first ? 1u : blocks;
  for (uint32_t before = 0; before < outer; ++before) {
    for (uint32_t index = 0; index < conv->depth; index += conv->ofm_micro) {
      for (int32_t element = 0; element < part->elements; ++element) {
        struct tap tap = tap_at(conv, part, element);
        for (uint32_t block = before; block < before + inner; ++block) {
          if (!add_micro_block(conv, &tap, index, part->channel + block * IFM_MICRO_DEPTH)) {
            return false;
          }
        }
      }
    }
  }
  return true;
}

/* The elements of a part, with those that only fill it up. */
static int32_t padded_elements(const struct convolution* conv, const struct part* part) {
  int32_t elements = part->height * part->width;
  if (conv->is_depthwise || (conv->kernel.is_part_first && conv->ifm.bytes == 1u)) {
    return (elements + 3) / 4 * 4;
  }
  return conv->kernel.is_part_first ? (elements + 1) / 2 * 2 : elements;
}

/* Adds all weights of the block of channels up, for the positions at work. */
static bool add_block(struct convolution* conv) {
  const struct ethosu_kernel* kernel = &conv->kernel;
  int32_t most_height = SUBKERNEL / kernel->dilation_y;
  int32_t most_width = SUBKERNEL / kernel->dilation_x;
  uint32_t channels = conv->is_depthwise ? 1u : conv->ifm.depth;
  struct part part;
  for (part.channel = 0; part.channel < channels; part.channel += conv->ifm_block) {
    uint32_t rest = channels - part.channel;
    part.channels = kernel->is_part_first && rest < conv->ifm_block ? rest : conv->ifm_block;
    for (part.y = 0; part.y < kernel->height; part.y += most_height) {
      part.height = kernel->height - part.y < most_height ? kernel->height - part.y : most_height;
      for (part.x = 0; part.x < kernel->width; part.x += most_width) {
        part.width = kernel->width - part.x < most_width ? kernel->width - part.x : most_width;
        part.elements = padded_elements(conv, &part);
        if (!add_part(conv, &part)) {
          return false;
        }
      }
    }
  }
  return true;
}

/* Bias, multiplier and shift of a channel: 5, 4 and 1 bytes. Without them an operation has a scale for all and no bias. */
static void finish_channel(const struct convolution* conv, uint32_t index) {
  const struct ethosu_output* out = conv->out;
  uint32_t channel = (conv->first + index) * conv->cores + conv->core;
  uint32_t multiplier = out->multiplier;
  unsigned shift = out->shift;
  int64_t bias = 0;
  if (!out->has_global_scale) {
    const uint8_t* entry = conv->scales + (size_t)(conv->first + index) * SCALE_BYTES;
    bias = ethosu_load(entry, 4, false) + (int64_t)(int8_t)entry[4] * ((int64_t)1 << 32);
    multiplier = (uint32_t)ethosu_load(entry + 5, 4, false);
    shift = entry[9] & 63u;
  }
  uint32_t width = out->map.width;
  uint32_t y = (uint32_t)(conv->position / width);
  uint32_t x = (uint32_t)(conv->position % width);
  const int64_t* sums = accumulators + (size_t)index * conv->positions;
  for (uint32_t i = 0; i < conv->positions; ++i) {
    ethosu_store(out, y, x, channel, ethosu_round(sums[i] + bias, multiplier, shift, out->rounding));
    if (++x == width) {
      x = 0;
      ++y;
    }
  }
}

/* A block of channels for all positions, some at a time. */
static bool compute_block(struct convolution* conv) {
  const struct ethosu_weights begin = conv->weights;
  uint64_t all = (uint64_t)conv->out->map.height * conv->out->map.width;
  uint32_t most = ETHOSU_MODEL_ACCUMULATORS / conv->depth;
  for (conv->position = 0; conv->position < all; conv->position += conv->positions) {
    conv->positions = (uint32_t)(all - conv->position < most ? all - conv->position : most);
    conv->weights = begin;
    memset(accumulators, 0, (size_t)conv->depth * conv->positions * sizeof(accumulators[0]));
    if (!ethosu_spend(conv->run, (uint64_t)conv->depth * conv->positions) || !add_block(conv)) {
      return false;
    }
    for (uint32_t index = 0; index < conv->depth; ++index) {
      finish_channel(conv, index);
    }
  }
  return true;
}

/* Takes a core's weights and scales from the registers. */
static bool open_core(struct convolution* conv, uint32_t channels) {
  struct ethosu_run* run = conv->run;
  unsigned weight = conv->core == 0u ? ETHOSU_WEIGHT_BASE : ETHOSU_WEIGHT1_BASE;
  unsigned scale = conv->core == 0u ? ETHOSU_SCALE_BASE : ETHOSU_SCALE1_BASE;
  uint64_t base = ethosu_address(run, weight);
  uint64_t bytes = (uint32_t)run->wides[weight + 1u];
  uint8_t* memory;
  if (base % WEIGHT_STEP != 0u || bytes % WEIGHT_STEP != 0u) {
    return ethosu_fail(run, ETHOSU_MODEL_ALIGNMENT, "weights", base % WEIGHT_STEP != 0u ? base : bytes, WEIGHT_STEP);
  }
  if (!ethosu_range(run, "weights", ethosu_word(run, ETHOSU_WEIGHT_REGION), base, bytes, &memory)) {
    return false;
  }
  ethosu_weights_open(&conv->weights, memory, (size_t)bytes, &run->work);
  if (conv->out->has_global_scale) {
    return true;
  }
  uint64_t length = (uint32_t)run->wides[scale + 1u];
  if (length < (uint64_t)channels * SCALE_BYTES) {
    return ethosu_fail(run, ETHOSU_MODEL_SHAPE, "length of the scales", length, (uint64_t)channels * SCALE_BYTES);
  }
  if (!ethosu_range(run, "scales", ethosu_word(run, ETHOSU_SCALE_REGION), ethosu_address(run, scale), length,
                    &memory)) {
    return false;
  }
  conv->scales = memory;
  return true;
}

/* The channels of a core: every second one if there are two. */
static bool compute_core(struct convolution* conv) {
  uint32_t block = ethosu_word(conv->run, ETHOSU_OFM_BLK_DEPTH_M1) + 1u;
  uint32_t channels = (conv->out->map.depth + conv->cores - 1u - conv->core) / conv->cores;
  block = (block + conv->cores - 1u - conv->core) / conv->cores;
  if (channels == 0u) {
    return true;
  }
  if (block == 0u || block > MOST_BLOCK_DEPTH) {
    return ethosu_fail(conv->run, ETHOSU_MODEL_REGISTER, "OFM_BLK_DEPTH_M1", block - 1u, MOST_BLOCK_DEPTH - 1u);
  }
  if (!open_core(conv, channels)) {
    return false;
  }
  for (conv->first = 0; conv->first < channels; conv->first += block) {
    conv->depth = channels - conv->first < block ? channels - conv->first : block;
    if (!compute_block(conv)) {
      return false;
    }
  }
  ethosu_weights_close(&conv->weights);
  return conv->weights.reason == ETHOSU_MODEL_OK ||
         ethosu_fail(conv->run, conv->weights.reason, "weights", conv->weights.at, conv->weights.bytes);
}

bool ethosu_convolve(struct ethosu_run* run, struct ethosu_output* out, bool is_depthwise) {
  uint32_t macs = run->model->config & 15u;
  struct convolution conv = {.run = run, .out = out, .is_depthwise = is_depthwise};
  if (!ethosu_kernel_open(run, &conv.kernel, &out->map)) {
    return false;
  }
  uint32_t scale = conv.kernel.upscale == 0u ? 1u : 2u;
  uint32_t height = ((uint32_t)conv.kernel.ifm_height + scale - 1u) / scale;
  uint32_t width = ((uint32_t)conv.kernel.ifm_width + scale - 1u) / scale;
  uint32_t depth = is_depthwise ? out->map.depth : ethosu_word(run, ETHOSU_IFM_DEPTH_M1) + 1u;
  if (!ethosu_ifm_open(run, &conv.ifm, height, width, depth)) {
    return false;
  }
  if (conv.ifm.bytes == 4u) {
    return ethosu_fail(run, ETHOSU_MODEL_REGISTER, "IFM_PRECISION", ethosu_word(run, ETHOSU_IFM_PRECISION), 1);
  }
  conv.cores = ethosu_word(run, ETHOSU_PARALLEL_MODE) + 1u;
  if (conv.cores > (macs == 9u ? 2u : 1u)) {
    return ethosu_fail(run, ETHOSU_MODEL_REGISTER, "PARALLEL_MODE", conv.cores - 1u, macs == 9u ? 1u : 0u);
  }
  conv.ofm_micro = macs == 5u ? 4u : 8u;
  conv.ifm_block = conv.kernel.is_part_first || conv.ifm.bytes == 2u ? 16u : 32u;
  for (conv.core = 0; conv.core < conv.cores; ++conv.core) {
    if (!compute_core(&conv)) {
      return false;
    }
  }
  return true;
}
