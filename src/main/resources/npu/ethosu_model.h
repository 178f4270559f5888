/* SPDX-License-Identifier: Apache-2.0
 *
 * What the model of the NPU has beyond the driver's interface: its configuration, why it refused a payload, and a look at every
 * operation. The model computes what an Ethos-U55 or U65 computes, operation by operation and in order; it knows nothing of time.
 *
 *   ethosu_init(&npu, NULL, NULL, 0, 1, 1);
 *   ethosu_model_configure(&npu, 0x1807);
 *   if (ethosu_invoke_v3(&npu, payload, bytes, bases, sizes, count, NULL) != 0) {
 *     ethosu_model_describe(ethosu_model_last_error(&npu), text, sizeof(text));
 *   }
 */
#ifndef ETHOSU_MODEL_H
#define ETHOSU_MODEL_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The configuration word of a payload, which ethosu_init() gives the model: bits 0-3 log2 of the MACs in a cycle, 8-15 SHRAM in KiB,
 * 27 custom DMA, 28-31 product (0 U55, 1 U65). 0 refuses every payload until ethosu_model_configure() is called. */
#ifndef ETHOSU_MODEL_CONFIG
#define ETHOSU_MODEL_CONFIG 0u
#endif

/* Multiplications, copied and decoded elements that a payload may cost; a stream from a stranger ends in bounded time. */
#ifndef ETHOSU_MODEL_WORK
#define ETHOSU_MODEL_WORK (1ull << 34)
#endif

struct ethosu_driver;

/*! \brief Why a payload was refused. */
enum ethosu_model_reason {
  ETHOSU_MODEL_OK,
  ETHOSU_MODEL_PAYLOAD,           /* no "COP1", cut, or an action that there is not */
  ETHOSU_MODEL_NOT_CONFIGURED,    /* nobody said what the model is */
  ETHOSU_MODEL_CONFIGURATION,     /* the payload was made for another NPU: value, and limit is the model's */
  ETHOSU_MODEL_ARCHITECTURE,      /* made for a newer architecture: value is the id */
  ETHOSU_MODEL_BASES,             /* base pointers: too many, not aligned to 16, fast memory too small */
  ETHOSU_MODEL_CUT,               /* the command stream has no STOP */
  ETHOSU_MODEL_COMMAND,           /* unknown command */
  ETHOSU_MODEL_REGISTER,          /* a register has a value that there is not */
  ETHOSU_MODEL_SHAPE,             /* sizes that do not fit together */
  ETHOSU_MODEL_REGION,            /* a region that nobody gave */
  ETHOSU_MODEL_ADDRESS,           /* bytes outside of the region: value is the end, limit the region's size */
  ETHOSU_MODEL_ALIGNMENT,         /* an address or length that is no multiple of limit */
  ETHOSU_MODEL_CONSTANT,          /* writes to region 0, the constants */
  ETHOSU_MODEL_WEIGHTS_CUT,       /* the weights end too soon */
  ETHOSU_MODEL_WEIGHTS_INVALID,   /* the weights do not decode, or a padding weight is not 0 */
  ETHOSU_MODEL_WEIGHTS_LEFT,      /* more weights than the operation has */
  ETHOSU_MODEL_UNKNOWN_FUNCTION,  /* tanh and sigmoid of the hardware, whose tables nobody publishes; a mode of the DMA */
  ETHOSU_MODEL_WORK_LIMIT         /* more work than ethosu_model_limit() allows */
};

/*! \brief Where and why a payload was refused. */
struct ethosu_model_error {
  enum ethosu_model_reason reason;
  uint32_t offset;     /* of the command, in bytes from the payload's begin */
  uint32_t command;    /* its first word */
  uint32_t operation;  /* operations begun, this one included; 0 before the first */
  const char* subject; /* "IFM", "weights", ... */
  uint64_t value;
  uint64_t limit;
};

/*! \brief An operation that was computed; its OFM is in memory. */
struct ethosu_model_operation {
  uint32_t number;   /* from 1 on; DMA has no number */
  uint32_t offset;   /* of the command, in bytes from the payload's begin */
  uint32_t kind;     /* opcode: 2 convolution, 3 depthwise, 5 pool, 6 elementwise */
  uint32_t function; /* which pool, which elementwise function */
  uint32_t region;   /* of the OFM */
  uint64_t base;     /* BASE0 of the OFM */
  uint32_t height;
  uint32_t width;
  uint32_t depth;
  uint32_t bytes; /* of an element */
  int is_signed;
  const void* ofm; /* for ethosu_model_checksum() */
};

/*! \brief Is called after each operation. */
typedef void (*ethosu_model_watcher)(const struct ethosu_model_operation* operation, void* user);

/*! \brief The model's part of a driver. */
struct ethosu_model {
  uint32_t config;
  uint64_t work;
  ethosu_model_watcher watcher;
  void* user;
  struct ethosu_model_error error;
};

/* Functions of the firmware; the ones here do nothing. So a file that is linked with an image configures the model, watches it and tells of
 * errors, and the code that calls the driver need not know of the model. */

/*! \brief Is called at the end of ethosu_init(). */
void ethosu_model_opened(struct ethosu_driver* drv);

/*! \brief Is called when a payload was refused, before ethosu_wait() returns. */
void ethosu_model_failed(struct ethosu_driver* drv);

/*! \brief Says which NPU the model is, by the configuration word of a payload. */
void ethosu_model_configure(struct ethosu_driver* drv, uint32_t config);

/*! \brief Limits the work that a payload may cost. */
void ethosu_model_limit(struct ethosu_driver* drv, uint64_t work);

/*! \brief Has a function called after each operation; NULL for none. */
void ethosu_model_watch(struct ethosu_driver* drv, ethosu_model_watcher watcher, void* user);

/*! \brief What the last payload was refused for; its reason is ETHOSU_MODEL_OK if it was not. */
const struct ethosu_model_error* ethosu_model_last_error(const struct ethosu_driver* drv);

/*!
 * \brief Writes an error as text, cut to size - 1 characters.
 * \return its length
 */
size_t ethosu_model_describe(const struct ethosu_model_error* error, char* text, size_t size);

/*! \brief CRC-32 of the OFM's values in the order H, W, C, little-endian, however they lie in memory. */
uint32_t ethosu_model_checksum(const struct ethosu_model_operation* operation);

/*!
 * \brief Writes an operation as a line, such as "3 pool 1 region 1 base0 8000 1x1x64 s8 crc32 403551db".
 * \return its length
 */
size_t ethosu_model_line(const struct ethosu_model_operation* operation, char* text, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* ETHOSU_MODEL_H */
