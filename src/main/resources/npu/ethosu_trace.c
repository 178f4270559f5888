/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations and errors as text.
 */
#include "ethosu_internal.h"

#define CRC_POLYNOMIAL 0xedb88320u

/* Text that is written to a buffer, as much of it as fits. */
struct text {
  char* buffer;
  size_t size;
  size_t length;
};

static void add(struct text* text, const char* words) {
  for (; *words != '\0' && text->length + 1u < text->size; ++words) {
    text->buffer[text->length++] = *words;
  }
}

static void add_number(struct text* text, uint64_t number, unsigned base, unsigned digits) {
  char reversed[24];
  unsigned count = 0;
  do {
    reversed[count++] = "0123456789abcdef"[number % base];
    number /= base;
  } while (number != 0u || count < digits);
  for (; count > 0u; --count) {
    char digit[2] = {reversed[count - 1u], '\0'};
    add(text, digit);
  }
}

static void add_decimal(struct text* text, uint64_t number) {
  add_number(text, number, 10, 1);
}

static size_t end(struct text* text) {
  if (text->size > 0u) {
    text->buffer[text->length] = '\0';
  }
  return text->length;
}

static uint32_t crc(uint32_t sum, uint8_t byte) {
  sum ^= byte;
  for (unsigned bit = 0; bit < 8u; ++bit) {
    sum = (sum >> 1) ^ ((sum & 1u) != 0u ? CRC_POLYNOMIAL : 0u);
  }
  return sum;
}

uint32_t ethosu_model_checksum(const struct ethosu_model_operation* operation) {
  const struct ethosu_map* map = operation->ofm;
  uint32_t sum = 0xffffffffu;
  for (uint32_t y = 0; y < map->height; ++y) {
    for (uint32_t x = 0; x < map->width; ++x) {
      for (uint32_t c = 0; c < map->depth; ++c) {
        const uint8_t* at = ethosu_at(map, y, x, c);
        for (uint32_t i = 0; i < map->bytes; ++i) {
          sum = crc(sum, at[i]);
        }
      }
    }
  }
  return ~sum;
}

static bool is_operation(uint32_t opcode) {
  return opcode == ETHOSU_CONVOLUTION || opcode == ETHOSU_DEPTHWISE || opcode == ETHOSU_POOL ||
         opcode == ETHOSU_ELEMENTWISE;
}

/* An operation's name, with which pool or elementwise function it is. */
static void add_operation(struct text* text, uint32_t opcode, uint32_t function) {
  static const char* const names[] = {
      [ETHOSU_CONVOLUTION] = "conv",
      [ETHOSU_DEPTHWISE] = "depthwise",
      [ETHOSU_POOL] = "pool ",
      [ETHOSU_ELEMENTWISE] = "elementwise ",
  };
  add(text, names[opcode]);
  if (opcode == ETHOSU_POOL || opcode == ETHOSU_ELEMENTWISE) {
    add_decimal(text, function);
  }
}

size_t ethosu_model_line(const struct ethosu_model_operation* operation, char* line, size_t size) {
  struct text text = {line, size, 0};
  add_decimal(&text, operation->number);
  add(&text, " ");
  add_operation(&text, operation->kind, operation->function);
  add(&text, " region ");
  add_decimal(&text, operation->region);
  add(&text, " base0 ");
  add_decimal(&text, operation->base);
  add(&text, " ");
  add_decimal(&text, operation->height);
  add(&text, "x");
  add_decimal(&text, operation->width);
  add(&text, "x");
  add_decimal(&text, operation->depth);
  add(&text, operation->is_signed ? " s" : " u");
  add_decimal(&text, 8u * operation->bytes);
  add(&text, " crc32 ");
  add_number(&text, ethosu_model_checksum(operation), 16, 8);
  return end(&text);
}

/* Such as "ethos-u55-128 with 24 KiB of SHRAM (0x00001807)". */
static void add_config(struct text* text, uint64_t config) {
  static const char* const products[] = {"ethos-u55-", "ethos-u65-", "ethos-u85-"};
  add(text, config >> 28 < 3u ? products[config >> 28] : "an unknown Ethos-U with MACs ");
  add_decimal(text, (uint64_t)1 << (config & 15u));
  add(text, " with ");
  add_decimal(text, config >> 8 & 0xffu);
  add(text, " KiB of SHRAM (0x");
  add_number(text, config, 16, 8);
  add(text, ")");
}

/* What is wrong; the subject stands before it. */
static const char* reason_text(enum ethosu_model_reason reason) {
  static const char* const texts[] = {
      [ETHOSU_MODEL_OK] = "nothing is wrong",
      [ETHOSU_MODEL_PAYLOAD] = "the payload is not one of Vela's, or was cut",
      [ETHOSU_MODEL_NOT_CONFIGURED] = "ethosu_model_configure() or ETHOSU_MODEL_CONFIG must say which NPU the model is",
      [ETHOSU_MODEL_CONFIGURATION] = "made for another NPU",
      [ETHOSU_MODEL_ARCHITECTURE] = "made for another architecture",
      [ETHOSU_MODEL_BASES] = "at most 8, aligned to 16 bytes, and as large as the stream wants",
      [ETHOSU_MODEL_CUT] = "ends without STOP",
      [ETHOSU_MODEL_COMMAND] = "unknown",
      [ETHOSU_MODEL_REGISTER] = "a value that the NPU does not have",
      [ETHOSU_MODEL_SHAPE] = "sizes do not fit together",
      [ETHOSU_MODEL_REGION] = "no such region was given",
      [ETHOSU_MODEL_ADDRESS] = "ends outside of its region",
      [ETHOSU_MODEL_ALIGNMENT] = "not aligned",
      [ETHOSU_MODEL_CONSTANT] = "would write to region 0, the constants",
      [ETHOSU_MODEL_WEIGHTS_CUT] = "too few",
      [ETHOSU_MODEL_WEIGHTS_INVALID] = "do not decode to weights of 9 bits with zeros between",
      [ETHOSU_MODEL_WEIGHTS_LEFT] = "more than the operation has",
      [ETHOSU_MODEL_UNKNOWN_FUNCTION] = "the model does not know this function of the hardware",
      [ETHOSU_MODEL_WORK_LIMIT] = "more than the model is allowed",
  };
  return texts[reason];
}

size_t ethosu_model_describe(const struct ethosu_model_error* error, char* buffer, size_t size) {
  struct text text = {buffer, size, 0};
  if (error->reason == ETHOSU_MODEL_OK) {
    return end(&text);
  }
  add(&text, "byte ");
  add_decimal(&text, error->offset);
  add(&text, " of the payload, operation ");
  add_decimal(&text, error->operation);
  add(&text, ", command 0x");
  add_number(&text, error->command, 16, 8);
  if (error->operation > 0u && is_operation(error->command & 0xffffu)) {
    add(&text, " (");
    add_operation(&text, error->command & 0xffffu, error->command >> 16);
    add(&text, ")");
  }
  add(&text, ": ");
  add(&text, error->subject);
  add(&text, ": ");
  add(&text, reason_text(error->reason));
  if (error->reason == ETHOSU_MODEL_CONFIGURATION) {
    add(&text, ": ");
    add_config(&text, error->value);
    add(&text, ", and this is ");
    add_config(&text, error->limit);
  } else {
    add(&text, " (0x");
    add_number(&text, error->value, 16, 1);
    add(&text, ", limit 0x");
    add_number(&text, error->limit, 16, 1);
    add(&text, ")");
  }
  return end(&text);
}
