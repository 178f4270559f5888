/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations on each element of one map, or of two.
 */
#include "ethosu_internal.h"

enum { MUL, ADD, SUB, MIN, MAX, LRELU, ABS, CLZ, SHR, SHL };

/* IFM2_BROADCAST. */
#define OVER_HEIGHT 1u
#define OVER_WIDTH 2u
#define OVER_DEPTH 4u
#define REVERSED 0x40u
#define SCALAR 0x80u

static const struct ethosu_map_registers ifm2_registers = {"IFM2",
                                                           ETHOSU_IFM2_REGION,
                                                           ETHOSU_IFM2_WIDTH0_M1,
                                                           ETHOSU_IFM2_ZERO_POINT,
                                                           ETHOSU_IFM2_BASE0,
                                                           ETHOSU_IFM2_STRIDE_X};

struct elementwise {
  unsigned function;
  struct ethosu_map ifm;
  struct ethosu_map ifm2;
  bool is_scalar;
  bool is_reversed;
  bool is_wide;      /* elements of 32 bits: multipliers are ignored */
  bool has_ifm2;     /* two operands */
  int64_t scalar;
  unsigned broadcast;
  unsigned scaled; /* which operand of a sum has a scale of 32 bits: 0 none, 1 A, 2 B */
  enum ethosu_rounding rounding; /* of that operand */
  uint32_t a_multiplier;
  unsigned a_shift;
  uint32_t b_multiplier;
};

static bool is_unary(unsigned function) {
  return function == LRELU || function == ABS || function == CLZ;
}

/* Two operands of 32 bits without their zero points stay within 32 bits. */
static int64_t without_zero(int64_t value, int32_t zero) {
  return ethosu_clamp(value - zero, INT32_MIN, INT32_MAX);
}

static int64_t operand(const struct ethosu_map* map, uint32_t y, uint32_t x, uint32_t c, bool keeps_zero) {
  int64_t value = ethosu_load(ethosu_at(map, y, x, c), map->bytes, map->is_signed);
  return keeps_zero ? value : without_zero(value, map->zero);
}

static bool open_second(struct ethosu_run* run, struct elementwise* op, const struct ethosu_map* ofm) {
  unsigned precision = ethosu_word(run, ETHOSU_IFM2_PRECISION);
  struct ethosu_map* map = &op->ifm2;
  op->broadcast = ethosu_word(run, ETHOSU_IFM2_BROADCAST);
  op->is_scalar = (op->broadcast & SCALAR) != 0u;
  op->is_reversed = (op->broadcast & REVERSED) != 0u;
  if ((precision >> 2 & 3u) == 3u) {
    return ethosu_fail(run, ETHOSU_MODEL_REGISTER, "IFM2_PRECISION", precision, 3);
  }
  map->bytes = 1u << (precision >> 2 & 3u);
  map->is_signed = (precision & 1u) != 0u;
  map->is_blocked = (precision >> 6 & 1u) != 0u;
  map->height = (op->broadcast & OVER_HEIGHT) != 0u ? 1u : ofm->height;
  map->width = (op->broadcast & OVER_WIDTH) != 0u ? 1u : ofm->width;
  map->depth = (op->broadcast & OVER_DEPTH) != 0u ? 1u : ofm->depth;
  if (!op->is_scalar) {
    return ethosu_map_open(run, map, &ifm2_registers);
  }
  map->zero = ethosu_number(ethosu_word(run, ETHOSU_IFM2_ZERO_POINT), map->is_signed);
  op->scalar = ethosu_number(ethosu_word(run, ETHOSU_IFM2_SCALAR), map->is_signed);
  return true;
}

/* A sum's operands have a scale of 16 bits each; or one has a scale of 32 bits, and the other is only shifted. */
static int64_t sum(const struct elementwise* op, int64_t a, int64_t b) {
  int64_t sign = op->function == SUB ? -1 : 1;
  if (op->is_wide) {
    return a + sign * b;
  }
  if (op->scaled == 0u) {
    return a * (int64_t)op->a_multiplier + sign * b * (int64_t)op->b_multiplier;
  }
  unsigned up = op->ifm.bytes == 1u ? 20u : 15u;
  int64_t scaled = op->scaled == 1u ? a : b;
  int64_t other = op->scaled == 1u ? b : a;
  scaled = ethosu_round(scaled * ((int64_t)1 << up), op->a_multiplier, op->a_shift + up, op->rounding);
  other *= (int64_t)1 << (up - 1u);
  return op->scaled == 1u ? scaled + sign * other : other + sign * scaled;
}

static int64_t leading_zeros(int64_t value) {
  uint32_t bits = (uint32_t)value;
  int64_t zeros = 0;
  for (uint32_t mask = 0x80000000u; mask != 0u && (bits & mask) == 0u; mask >>= 1) {
    ++zeros;
  }
  return zeros;
}

/* Shifts to the right are rounded half up; of shifts to the left 32 bits are kept. */
static int64_t shifted(unsigned function, int64_t a, int64_t b) {
  unsigned distance = (unsigned)ethosu_clamp(b, 0, 32);
  if (function == SHR) {
    return distance == 0u ? a : (a + ((int64_t)1 << (distance - 1u))) >> distance;
  }
  return (int32_t)(uint32_t)((uint64_t)a << distance);
}

static int64_t scaled(const struct elementwise* op, const struct ethosu_output* out, int64_t value) {
  return ethosu_round(value, op->is_wide ? 1u : out->multiplier, out->shift, out->rounding);
}

static int64_t compute(const struct elementwise* op, const struct ethosu_output* out, int64_t a, int64_t b) {
  switch (op->function) {
    case MUL:
      return scaled(op, out, a * b);
    case ADD:
    case SUB:
      return scaled(op, out, sum(op, a, b));
    case MIN:
      return a < b ? a : b;
    case MAX:
      return a > b ? a : b;
    case LRELU:
      return a < 0 ? scaled(op, out, a) : a;
    case ABS:
      return scaled(op, out, a < 0 ? -a : a);
    case CLZ:
      return leading_zeros(a);
    default:
      return shifted(op->function, a, b);
  }
}

static bool open(struct ethosu_run* run, struct elementwise* op, struct ethosu_output* out) {
  struct ethosu_map* ofm = &out->map;
  if (op->function > SHL) {
    return ethosu_fail(run, ETHOSU_MODEL_COMMAND, "elementwise function", op->function, SHL);
  }
  if (!ethosu_ifm_open(run, &op->ifm, ofm->height, ofm->width, ofm->depth)) {
    return false;
  }
  op->has_ifm2 = !is_unary(op->function);
  if (op->has_ifm2 && !open_second(run, op, ofm)) {
    return false;
  }
  op->is_wide = op->ifm.bytes == 4u || (op->has_ifm2 && op->ifm2.bytes == 4u);
  unsigned precision = ethosu_word(run, ETHOSU_IFM_PRECISION);
  op->scaled = precision >> 8 & 3u;
  op->rounding = (enum ethosu_rounding)(precision >> 14);
  op->a_multiplier = (uint32_t)run->wides[ETHOSU_OPA_SCALE];
  op->a_shift = ethosu_shift(run, ETHOSU_OPA_SCALE);
  op->b_multiplier = (uint32_t)run->wides[ETHOSU_OPB_SCALE];
  if ((op->scaled == 3u || precision >> 14 == 3u) && (op->function == ADD || op->function == SUB)) {
    return ethosu_fail(run, ETHOSU_MODEL_REGISTER, "IFM_PRECISION", precision, 2);
  }
  if (op->function == MIN || op->function == MAX) {
    ofm->zero = 0; /* zero points stay in the operands */
  }
  return true;
}

bool ethosu_elementwise(struct ethosu_run* run, struct ethosu_output* out, unsigned function) {
  struct elementwise op = {.function = function};
  if (!open(run, &op, out)) {
    return false;
  }
  bool keeps_zero = function == MIN || function == MAX;
  int64_t second = keeps_zero ? op.scalar : without_zero(op.scalar, op.ifm2.zero);
  for (uint32_t y = 0; y < out->map.height; ++y) {
    for (uint32_t x = 0; x < out->map.width; ++x) {
      if (!ethosu_spend(run, out->map.depth)) {
        return false;
      }
      for (uint32_t c = 0; c < out->map.depth; ++c) {
        int64_t a = operand(&op.ifm, y, x, c, keeps_zero);
        int64_t b = second;
        if (op.has_ifm2 && !op.is_scalar) {
          b = operand(&op.ifm2, op.ifm2.height == 1u ? 0u : y, op.ifm2.width == 1u ? 0u : x,
                      op.ifm2.depth == 1u ? 0u : c, keeps_zero);
        }
        ethosu_store(out, y, x, c, op.is_reversed ? compute(&op, out, b, a) : compute(&op, out, a, b));
      }
    }
  }
  return true;
}
