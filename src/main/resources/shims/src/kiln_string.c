/* SPDX-License-Identifier: Apache-2.0
 *
 * The rest of string.h, and abs.
 */
#include <stddef.h>
#include <stdint.h>

#include "kiln_shims.h"

void* SHIM(memchr)(const void* in, int value, size_t bytes) {
  const uint8_t* s = in;
  for (; bytes != 0u; --bytes, ++s) {
    if (*s == (uint8_t)value) {
      return (void*)(uintptr_t)s;
    }
  }
  return 0;
}

size_t SHIM(strlen)(const char* text) {
  const char* end = text;
  while (*end != '\0') {
    ++end;
  }
  return (size_t)(end - text);
}

int SHIM(strcmp)(const char* a, const char* b) {
  return SHIM(strncmp)(a, b, SIZE_MAX);
}

int SHIM(strncmp)(const char* a, const char* b, size_t bytes) {
  for (; bytes != 0u; --bytes, ++a, ++b) {
    int difference = (int)(uint8_t)*a - (int)(uint8_t)*b;
    if (difference != 0 || *a == '\0') {
      return difference;
    }
  }
  return 0;
}

char* SHIM(strcpy)(char* restrict to, const char* restrict from) {
  char* d = to;
  while ((*d++ = *from++) != '\0') {
  }
  return to;
}

char* SHIM(strncpy)(char* restrict to, const char* restrict from, size_t bytes) {
  size_t i = 0;
  for (; i < bytes && from[i] != '\0'; ++i) {
    to[i] = from[i];
  }
  for (; i < bytes; ++i) {
    to[i] = '\0';
  }
  return to;
}

char* SHIM(strchr)(const char* text, int character) {
  for (;; ++text) {
    if (*text == (char)character) {
      return (char*)(uintptr_t)text;
    }
    if (*text == '\0') {
      return 0;
    }
  }
}

int SHIM(abs)(int value) {
  return value < 0 ? -value : value;
}

long SHIM(labs)(long value) {
  return value < 0 ? -value : value;
}
