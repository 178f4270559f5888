/* SPDX-License-Identifier: Apache-2.0
 *
 * The default application: a host runs the models in this image over the console.
 *
 * The image prints a line that begins with "kiln: ready"; the host sends nothing before it. From then on both sides speak microTVM's
 * framing: FF FD, length (u32), payload, CRC-16-CCITT (u16), numbers little endian. A data byte FF is sent twice; FF FE is a filler. The
 * CRC (polynomial 0x1021, start 0xFFFF, high bit first) covers the bytes as sent, fillers too, from FF FD to the end of the payload.
 *
 * A request's payload is one byte that says what it asks for, then its arguments. The reply's payload is that byte + 0x80, a status and
 * the result. A damaged request is answered with KILN_APP_DAMAGED + 0x80 and KILN_APP_BAD_FRAME, and may be sent again.
 *
 *   request                                      result
 *   KILN_APP_INFO                                u8 protocol version, u8 models; for each model: u8 length, name,
 *                                                u8 inputs, u8 outputs, u32 bytes of each input, u32 bytes of each output
 *   KILN_APP_RUN, u8 model, inputs in order      outputs in order; with KILN_APP_FAILED the i32 that the model returned
 *   KILN_APP_EXIT                                none; main returns afterwards
 */
#ifndef KILN_APP_H_
#define KILN_APP_H_

#include <stdint.h>

#define KILN_APP_PROTOCOL 1u

#define KILN_APP_DAMAGED 0u
#define KILN_APP_INFO 1u
#define KILN_APP_RUN 2u
#define KILN_APP_EXIT 3u

#define KILN_APP_OK 0u
#define KILN_APP_BAD_REQUEST 1u /* no such request */
#define KILN_APP_BAD_LENGTH 2u  /* too few or too many bytes */
#define KILN_APP_BAD_MODEL 3u   /* no such model */
#define KILN_APP_FAILED 4u      /* the model returned an error */
#define KILN_APP_BAD_FRAME 5u   /* wrong CRC or escape */

struct kiln_app_model {
  const char* name;
  uint8_t inputs;
  uint8_t outputs;
  const uint32_t* sizes;              /* bytes of each input, then of each output */
  uint8_t* (*tensor)(uint32_t index); /* memory of an input, or behind the inputs, of an output */
  int32_t (*run)(void);               /* 0 if it went well */
  void (*take)(uint32_t at, uint8_t byte); /* gets the bytes of the input one by one instead of its memory; mostly NULL */
};

/* In kiln_app_models.c, which is made for the models in the image. */
extern const uint8_t kiln_app_model_count;
extern const struct kiln_app_model kiln_app_models[];

#endif
