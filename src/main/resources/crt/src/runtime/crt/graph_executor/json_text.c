/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts of JSON where they are: character by character, without their escapes.
 */
#include <string.h>
#include <tvm/runtime/crt/internal/graph_executor/load_json.h>
#include <tvm/runtime/crt/internal/graph_executor/small.h>

TVM_CRT_SMALL_BEGIN

/* Four hexadecimal digits, or a value above 0xffff. */
static uint32_t hex(const char* digits) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    char c = digits[i];
    uint32_t digit;
    if (c >= '0' && c <= '9') {
      digit = (uint32_t)(c - '0');
    } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
      digit = (uint32_t)((c | 0x20) - 'a') + 10u;
    } else {
      return UINT32_MAX;
    }
    value = value << 4 | digit;
  }
  return value;
}

/* One character of a text, as UTF-8. */
typedef struct {
  const char* next;
  uint32_t count; /* bytes; 0 at the closing quote, or if it is none */
  int is_valid;
  char bytes[4];
} character_t;

/* A character written as four hexadecimal digits. Both halves of a surrogate pair are read as characters: names are only compared. */
static void read_code(character_t* c, const char* digits) {
  uint32_t code = hex(digits);
  c->is_valid = code != UINT32_MAX && code != 0u;
  if (!c->is_valid) {
    return;
  }
  c->next = digits + 4;
  if (code < 0x80u) {
    c->bytes[c->count++] = (char)code;
    return;
  }
  if (code < 0x800u) {
    c->bytes[c->count++] = (char)(0xc0u | code >> 6);
  } else {
    c->bytes[c->count++] = (char)(0xe0u | code >> 12);
    c->bytes[c->count++] = (char)(0x80u | (code >> 6 & 0x3fu));
  }
  c->bytes[c->count++] = (char)(0x80u | (code & 0x3fu));
}

static character_t read_character(const char* at) {
  static const char escapes[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
  character_t c = {at, 0, 1, {0, 0, 0, 0}};
  if (*at == '"') {
    return c;
  }
  if ((unsigned char)*at < ' ') {
    c.is_valid = 0;
    return c;
  }
  if (*at != '\\') {
    c.next = at + 1;
    c.bytes[c.count++] = *at;
    return c;
  }
  if (at[1] == 'u') {
    read_code(&c, at + 2);
    return c;
  }
  for (const char* e = escapes; *e != '\0'; e += 2) {
    if (at[1] == e[0]) {
      c.next = at + 2;
      c.bytes[c.count++] = e[1];
      return c;
    }
  }
  c.is_valid = 0;
  return c;
}

int JSONReader_Equals(const char* reference, const char* name) {
  for (character_t c = read_character(reference); c.count > 0u; c = read_character(c.next)) {
    if (strncmp(c.bytes, name, c.count) != 0) {
      return 0;
    }
    name += c.count;
  }
  return *name == '\0';
}

int JSONReader_Copy(const char* reference, char* out, size_t size) {
  size_t used = 0;
  for (character_t c = read_character(reference); c.count > 0u; c = read_character(c.next)) {
    if (c.count >= size - used) {
      out[0] = '\0';
      return 0;
    }
    memcpy(out + used, c.bytes, c.count);
    used += c.count;
  }
  out[used] = '\0';
  return 1;
}

const char* JSONReader_EndOfText(const char* reference, int* is_valid) {
  character_t c = read_character(reference);
  while (c.count > 0u) {
    reference = c.next;
    c = read_character(reference);
  }
  *is_valid = c.is_valid;
  return reference;
}

TVM_CRT_SMALL_END
