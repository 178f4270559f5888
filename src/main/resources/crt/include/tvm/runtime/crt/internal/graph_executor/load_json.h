/* SPDX-License-Identifier: Apache-2.0
 *
 * A reader of JSON that takes no memory: the caller asks for what it expects, value by value.
 *
 * The first error stays: from then on there are no more items, texts are empty and numbers 0. reader->error tells it.
 */
#ifndef TVM_RUNTIME_CRT_INTERNAL_GRAPH_EXECUTOR_LOAD_JSON_H_
#define TVM_RUNTIME_CRT_INTERNAL_GRAPH_EXECUTOR_LOAD_JSON_H_

#include <stddef.h>
#include <stdint.h>
#include <tvm/runtime/crt/error_codes.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct JSONReader {
  const char* text;  /* the whole JSON, with a terminating zero */
  const char* at;    /* what is read next */
  const char* error; /* what is wrong, or NULL */
  uint32_t first;    /* a bit for each level: whether its next item is its first */
  uint32_t depth;    /* objects and lists that are open */

  void (*BeginObject)(struct JSONReader* reader);
  void (*BeginArray)(struct JSONReader* reader);
  /* Whether there is another item; at the end the object or list is closed. A key that does not fit reads as "". */
  uint8_t (*NextObjectItem)(struct JSONReader* reader, char* key, size_t key_size);
  uint8_t (*NextArrayItem)(struct JSONReader* reader);
  /* These return 0, or kTvmErrorFunctionCallInvalidArg for another value, one that does not fit, or an earlier error. */
  int (*ReadString)(struct JSONReader* reader, char* out_str, size_t out_str_size);
  int (*ReadUnsignedInteger)(struct JSONReader* reader, unsigned int* out_value);
  int (*ReadInteger)(struct JSONReader* reader, int64_t* out_value);
  /* How many items are left of the list that has just been begun; nothing is read. */
  int (*ArrayLength)(struct JSONReader* reader, size_t* num_elements);
} JSONReader;

/* A reader of a text, which must stay. */
tvm_crt_error_t JSONReader_Create(const char* is, JSONReader* reader);
tvm_crt_error_t JSONReader_Release(JSONReader* reader);

/* Reads a text and tells where it begins, behind its quote. */
int JSONReader_ReadReference(JSONReader* reader, const char** out_reference);

/* Passes over a value of any kind. */
void JSONReader_Skip(JSONReader* reader);

/* Keeps an error, unless there is one already. */
void JSONReader_Fail(JSONReader* reader, const char* error);

/* Whether a text of the JSON that was read by reference is this name. */
int JSONReader_Equals(const char* reference, const char* name);

/* The quote that ends such a text, or where it goes wrong. */
const char* JSONReader_EndOfText(const char* reference, int* is_valid);

/* Copies such a text, without its escapes. Returns 0 if it does not fit. */
int JSONReader_Copy(const char* reference, char* out, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_INTERNAL_GRAPH_EXECUTOR_LOAD_JSON_H_ */
