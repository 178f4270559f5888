/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <tvm/runtime/crt/internal/graph_executor/load_json.h>
#include <tvm/runtime/crt/internal/graph_executor/small.h>

TVM_CRT_SMALL_BEGIN

/* Levels of objects and lists; a graph has 5. */
#define MOST_DEPTH 16u

#define INVALID ((int)kTvmErrorFunctionCallInvalidArg)

void JSONReader_Fail(JSONReader* reader, const char* error) {
  if (reader->error == NULL) {
    reader->error = error;
  }
}

static int result(const JSONReader* reader) {
  return reader->error == NULL ? 0 : INVALID;
}

/* The next character that is no space. It is not read. */
static char peek(JSONReader* reader) {
  while (*reader->at == ' ' || *reader->at == '\t' || *reader->at == '\n' || *reader->at == '\r') {
    ++reader->at;
  }
  return *reader->at;
}

static int expect(JSONReader* reader, char c, const char* error) {
  if (reader->error != NULL) {
    return 0;
  }
  if (peek(reader) != c) {
    JSONReader_Fail(reader, *reader->at == '\0' ? "it ends too early" : error);
    return 0;
  }
  ++reader->at;
  return 1;
}

static void begin(JSONReader* reader, char open, const char* error) {
  if (!expect(reader, open, error)) {
    return;
  }
  if (reader->depth == MOST_DEPTH) {
    JSONReader_Fail(reader, "too many levels");
    return;
  }
  ++reader->depth;
  reader->first |= 1u << reader->depth;
}

static void begin_object(JSONReader* reader) {
  begin(reader, '{', "an object is expected");
}

static void begin_array(JSONReader* reader) {
  begin(reader, '[', "a list is expected");
}

static uint8_t next_item(JSONReader* reader, char close) {
  uint32_t level = 1u << reader->depth;
  if (reader->error != NULL || reader->depth == 0u) {
    return 0;
  }
  if (peek(reader) == close) {
    ++reader->at;
    --reader->depth;
    return 0;
  }
  if ((reader->first & level) == 0u && !expect(reader, ',', "a comma is expected")) {
    return 0;
  }
  reader->first &= ~level;
  return 1;
}

int JSONReader_ReadReference(JSONReader* reader, const char** out_reference) {
  *out_reference = "\"";
  if (!expect(reader, '"', "a text is expected")) {
    return INVALID;
  }
  int is_valid = 0;
  const char* begin_of_text = reader->at;
  reader->at = JSONReader_EndOfText(begin_of_text, &is_valid);
  if (!is_valid) {
    JSONReader_Fail(reader, *reader->at == '\0' ? "it ends too early" : "a wrong character");
    return INVALID;
  }
  ++reader->at;
  *out_reference = begin_of_text;
  return 0;
}

static uint8_t next_object_item(JSONReader* reader, char* key, size_t key_size) {
  const char* reference;
  if (!next_item(reader, '}') || JSONReader_ReadReference(reader, &reference) != 0 ||
      !expect(reader, ':', "a colon is expected")) {
    return 0;
  }
  (void)JSONReader_Copy(reference, key, key_size);
  return 1;
}

static uint8_t next_array_item(JSONReader* reader) {
  return next_item(reader, ']');
}

static int read_string(JSONReader* reader, char* out_str, size_t out_str_size) {
  const char* reference;
  (void)JSONReader_ReadReference(reader, &reference);
  if (!JSONReader_Copy(reference, out_str, out_str_size)) {
    JSONReader_Fail(reader, "a text is too long");
  }
  return result(reader);
}

static int read_integer(JSONReader* reader, int64_t* out_value) {
  int64_t value = 0;
  int is_negative = 0;
  *out_value = 0;
  if (reader->error != NULL) {
    return INVALID;
  }
  if (peek(reader) == '-') {
    is_negative = 1;
    ++reader->at;
  }
  if (*reader->at < '0' || *reader->at > '9') {
    JSONReader_Fail(reader, *reader->at == '\0' ? "it ends too early" : "an integer is expected");
    return INVALID;
  }
  while (*reader->at >= '0' && *reader->at <= '9') {
    int digit = *reader->at - '0';
    if (value > (INT64_MAX - digit) / 10) {
      JSONReader_Fail(reader, "an integer is expected");
      return INVALID;
    }
    value = 10 * value + digit;
    ++reader->at;
  }
  if (*reader->at == '.' || (*reader->at | 0x20) == 'e') {
    JSONReader_Fail(reader, "an integer is expected");
    return INVALID;
  }
  *out_value = is_negative ? -value : value;
  return 0;
}

static int read_unsigned_integer(JSONReader* reader, unsigned int* out_value) {
  int64_t value = 0;
  *out_value = 0;
  if (read_integer(reader, &value) == 0 && (value < 0 || value > INT32_MAX)) {
    JSONReader_Fail(reader, "an integer is expected");
  }
  if (reader->error == NULL) {
    *out_value = (unsigned int)value;
  }
  return result(reader);
}

void JSONReader_Skip(JSONReader* reader) {
  const char* reference;
  uint32_t open = 0;
  do {
    char c = peek(reader);
    if (reader->error != NULL || c == '\0') {
      JSONReader_Fail(reader, "it ends too early");
      return;
    }
    if (c == '"') {
      (void)JSONReader_ReadReference(reader, &reference);
      continue;
    }
    if ((c == ']' || c == '}' || c == ',') && open == 0u) {
      JSONReader_Fail(reader, "a value is expected");
      return;
    }
    open += c == '{' || c == '[' ? 1u : 0u;
    open -= c == '}' || c == ']' ? 1u : 0u;
    ++reader->at;
    /* The rest of a number or a word. */
    while (c != ',' && c != ':' && c != '[' && c != ']' && c != '{' && c != '}' && *reader->at != '\0' &&
           strchr(",:[]{}\" \t\r\n", *reader->at) == NULL) {
      ++reader->at;
    }
  } while (open > 0u);
}

static int array_length(JSONReader* reader, size_t* num_elements) {
  JSONReader ahead = *reader;
  size_t count = 0;
  while (ahead.NextArrayItem(&ahead)) {
    JSONReader_Skip(&ahead);
    ++count;
  }
  *num_elements = ahead.error == NULL ? count : 0u;
  return result(&ahead);
}

tvm_crt_error_t JSONReader_Create(const char* is, JSONReader* reader) {
  memset(reader, 0, sizeof(*reader));
  reader->text = is;
  reader->at = is;
  reader->BeginObject = begin_object;
  reader->BeginArray = begin_array;
  reader->NextObjectItem = next_object_item;
  reader->NextArrayItem = next_array_item;
  reader->ReadString = read_string;
  reader->ReadUnsignedInteger = read_unsigned_integer;
  reader->ReadInteger = read_integer;
  reader->ArrayLength = array_length;
  return kTvmErrorNoError;
}

tvm_crt_error_t JSONReader_Release(JSONReader* reader) {
  memset(reader, 0, sizeof(*reader));
  return kTvmErrorNoError;
}

TVM_CRT_SMALL_END
