/* SPDX-License-Identifier: Apache-2.0
 *
 * Decodes a stream of weights, one weight at a time. The stream is a row of slices; a slice has weights and, in most modes, the lengths
 * of the runs of zeros between them, each a quotient in unary and a remainder. They come in chunks of up to twelve of both kinds: the
 * quotients of one chunk stand before the remainders of the chunk before.
 */
#include "ethosu_internal.h"

#define NO_RUNS 6u
#define END 7u
#define UNCOMPRESSED 7u
#define CHUNK 12u
#define SHORT_CHUNK 8u
#define QUEUE (sizeof(((struct ethosu_weights*)0)->weight_queue) / sizeof(int16_t))
#define AHEAD 8 /* how far weights may be read ahead of runs */
#define MOST_VALUE 511u

static void fail(struct ethosu_weights* weights, enum ethosu_model_reason reason) {
  if (weights->reason == ETHOSU_MODEL_OK) {
    weights->reason = reason;
  }
}

static bool has_failed(const struct ethosu_weights* weights) {
  return weights->reason != ETHOSU_MODEL_OK;
}

/* The next bits, at most 16, low bit first; 0 beyond the end. */
static uint32_t take(struct ethosu_weights* weights, unsigned bits) {
  while (weights->held_bits < bits) {
    if (weights->at == weights->bytes) {
      fail(weights, ETHOSU_MODEL_WEIGHTS_CUT);
      return 0;
    }
    weights->held |= (uint32_t)weights->data[weights->at++] << weights->held_bits;
    weights->held_bits += 8u;
  }
  uint32_t value = weights->held & ((1u << bits) - 1u);
  weights->held >>= bits;
  weights->held_bits -= bits;
  return value;
}

void ethosu_weights_open(struct ethosu_weights* weights, const uint8_t* data, size_t bytes, uint64_t* work) {
  memset(weights, 0, sizeof(*weights));
  weights->data = data;
  weights->bytes = bytes;
  weights->work = work;
  weights->is_first = true;
}

static void read_palette(struct ethosu_weights* weights) {
  weights->direct_offset = take(weights, 5);
  weights->palette_size = take(weights, 5);
  if (weights->palette_size > 0u) {
    ++weights->palette_size;
  }
  weights->palette_bits = take(weights, 3) + 2u;
  for (unsigned i = 0; i < weights->palette_size; ++i) {
    weights->palette[i] = (uint16_t)take(weights, weights->palette_bits);
  }
}

/* The divisor of a slice whose values are not compressed: the bits of a value. */
static unsigned plain_bits(const struct ethosu_weights* weights) {
  if (weights->palette_size == 0u) {
    return weights->palette_bits;
  }
  unsigned bits = 0;
  while (1u << bits < weights->palette_size) {
    ++bits;
  }
  return bits;
}

/* Passes over ends of streams; the first three bits of the next slice, or END at the end of the data. */
static unsigned next_mode(struct ethosu_weights* weights) {
  for (;;) {
    unsigned mode = take(weights, 3);
    if (mode != END || has_failed(weights)) {
      return mode;
    }
    weights->is_first = true;
    unsigned rest = weights->held_bits % 8u;
    weights->held >>= rest;
    weights->held_bits -= rest;
    if (weights->held_bits == 0u && weights->at == weights->bytes) {
      return END;
    }
    if (*weights->work == 0u) {
      fail(weights, ETHOSU_MODEL_WORK_LIMIT);
      return END;
    }
    --*weights->work;
  }
}

static void next_slice(struct ethosu_weights* weights) {
  unsigned mode = next_mode(weights);
  if (mode == END) {
    fail(weights, ETHOSU_MODEL_WEIGHTS_CUT);
    return;
  }
  int32_t count = (int32_t)take(weights, 15) + 1;
  unsigned divisor = take(weights, 3);
  weights->is_truncated = take(weights, 1) != 0u;
  bool has_palette = take(weights, 1) != 0u;
  if (mode == 4u || mode == 5u || (!has_palette && (weights->is_first || weights->has_runs != (mode != NO_RUNS)))) {
    fail(weights, ETHOSU_MODEL_WEIGHTS_INVALID);
    return;
  }
  if (has_palette) {
    read_palette(weights);
  }
  weights->is_first = false;
  weights->zero_mode = mode;
  weights->has_runs = mode != NO_RUNS;
  weights->is_leading = weights->has_runs && has_palette;
  weights->is_uncompressed = divisor == UNCOMPRESSED;
  weights->divisor = weights->is_uncompressed ? plain_bits(weights) : divisor;
  weights->weights_total = count;
  weights->runs_total = weights->has_runs ? count + (has_palette ? 1 : 0) : 0;
  weights->weights_read = weights->weights_done = weights->runs_read = weights->runs_done = 0;
  weights->weight_carry = weights->run_carry = 0;
  weights->before.weights = weights->before.runs = 0;
}

static void queue_weight(struct ethosu_weights* weights, uint32_t value) {
  if (value >= weights->palette_size) {
    value = value - weights->palette_size + weights->direct_offset;
  } else {
    value = weights->palette[value];
  }
  if (value > MOST_VALUE) {
    fail(weights, ETHOSU_MODEL_WEIGHTS_INVALID);
    return;
  }
  int magnitude = (int)(value >> 1);
  weights->weight_queue[weights->weight_tail++ % QUEUE] = (int16_t)((value & 1u) != 0u ? -magnitude : magnitude);
}

/* The remainders of the chunk before. */
static void read_remainders(struct ethosu_weights* weights) {
  const struct ethosu_chunk* before = &weights->before;
  for (unsigned i = 0; i < before->weights && weights->weights_done < weights->weights_total; ++i) {
    uint32_t remainder = take(weights, weights->divisor);
    queue_weight(weights, (before->weight_quotients[i] << weights->divisor) + remainder);
    ++weights->weights_done;
  }
  for (unsigned i = 0; i < before->runs && weights->runs_done < weights->runs_total; ++i) {
    uint32_t remainder = take(weights, weights->zero_mode);
    weights->run_queue[weights->run_tail++ % QUEUE] = (before->run_quotients[i] << weights->zero_mode) + remainder;
    ++weights->runs_done;
  }
}

/* Quotients of weights: each bit of the first word is followed by one of the second if it is 1. */
static void read_weights(struct ethosu_weights* weights, struct ethosu_chunk* chunk, uint32_t first) {
  unsigned count = weights->is_uncompressed && weights->divisor > 5u ? SHORT_CHUNK : CHUNK;
  unsigned ones = 0;
  for (unsigned i = 0; i < CHUNK; ++i) {
    ones += first >> i & 1u;
  }
  uint32_t second = take(weights, ones);
  for (unsigned i = 0; i < count; ++i) {
    unsigned code = 0;
    if ((first >> i & 1u) != 0u) {
      code = 1u + (second & 1u);
      second >>= 1;
    }
    weights->weight_carry += code;
    if (code < 2u || weights->is_truncated) {
      chunk->weight_quotients[chunk->weights++] = weights->weight_carry;
      weights->weight_carry = 0;
    }
  }
  weights->weights_read += (int32_t)chunk->weights;
}

static void read_runs(struct ethosu_weights* weights, struct ethosu_chunk* chunk, uint32_t unary, unsigned bits) {
  for (unsigned i = 0; i < bits; ++i) {
    if ((unary >> i & 1u) != 0u) {
      ++weights->run_carry;
    } else {
      chunk->run_quotients[chunk->runs++] = weights->run_carry;
      weights->run_carry = 0;
    }
  }
  weights->runs_read += (int32_t)chunk->runs;
}

static void next_chunk(struct ethosu_weights* weights) {
  struct ethosu_chunk chunk = {0};
  int32_t balance = weights->has_runs ? weights->weights_read - weights->runs_read : 0;
  bool has_weights = balance < AHEAD && weights->weights_read < weights->weights_total;
  bool has_runs = balance >= 0 && weights->runs_read < weights->runs_total;
  unsigned run_bits = weights->zero_mode < 3u ? CHUNK : SHORT_CHUNK;
  uint32_t first = has_weights && !weights->is_uncompressed ? take(weights, CHUNK) : 0u;
  uint32_t unary = has_runs ? take(weights, run_bits) : 0u;
  if (has_weights) {
    read_weights(weights, &chunk, first);
  }
  if (has_runs) {
    read_runs(weights, &chunk, unary, run_bits);
  }
  read_remainders(weights);
  weights->before = chunk;
}

static bool is_pending(const struct ethosu_weights* weights) {
  return weights->weights_done < weights->weights_total || weights->runs_done < weights->runs_total;
}

int ethosu_weights_next(struct ethosu_weights* weights) {
  while (!has_failed(weights)) {
    if (weights->zeros > 0u) {
      --weights->zeros;
      return 0;
    }
    bool has_weight = weights->weight_head != weights->weight_tail;
    bool has_run = weights->run_head != weights->run_tail;
    if (weights->is_leading && has_run) {
      weights->is_leading = false;
      weights->zeros = weights->run_queue[weights->run_head++ % QUEUE];
    } else if (!weights->is_leading && has_weight && (has_run || !weights->has_runs)) {
      if (weights->has_runs) {
        weights->zeros = weights->run_queue[weights->run_head++ % QUEUE];
      }
      return weights->weight_queue[weights->weight_head++ % QUEUE];
    } else if (is_pending(weights)) {
      next_chunk(weights);
    } else {
      next_slice(weights);
    }
  }
  return 0;
}

/* After the last weight nothing but ends may come. */
void ethosu_weights_close(struct ethosu_weights* weights) {
  if (!has_failed(weights) &&
      (weights->zeros > 0u || weights->weight_head != weights->weight_tail || is_pending(weights) ||
       next_mode(weights) != END)) {
    fail(weights, ETHOSU_MODEL_WEIGHTS_LEFT);
  }
}
