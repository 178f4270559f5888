/* SPDX-License-Identifier: Apache-2.0
 *
 * The conversions of printf that log messages use: %d %i %u %x %X %p %c %s %%, with l, ll, z, a width and a leading 0. Every other one
 * is printed as it stands.
 */
#include <stdint.h>
#include <tvm/runtime/crt/platform.h>

#define MOST_DIGITS 20u

struct text {
  char* at;
  size_t room; /* without the terminating zero */
  size_t length;
};

struct conversion {
  uint32_t width;
  char padding;
  int size; /* 0 int, 1 long, 2 long long, 3 size_t */
};

static void put(struct text* text, char c) {
  if (text->length < text->room) {
    text->at[text->length++] = c;
  }
}

static void put_number(struct text* text, struct conversion how, uint64_t value, uint32_t base, int is_negative) {
  char digits[MOST_DIGITS];
  uint32_t count = 0;
  do {
    digits[count++] = "0123456789abcdef"[value % base];
    value /= base;
  } while (value != 0u);
  uint32_t printed = count + (is_negative != 0);
  if (is_negative != 0 && how.padding == '0') {
    put(text, '-');
  }
  for (; printed < how.width; ++printed) {
    put(text, how.padding);
  }
  if (is_negative != 0 && how.padding != '0') {
    put(text, '-');
  }
  while (count != 0u) {
    put(text, digits[--count]);
  }
}

static void put_string(struct text* text, const char* string) {
  for (string = string == NULL ? "(null)" : string; *string != '\0'; ++string) {
    put(text, *string);
  }
}

static int64_t next_signed(va_list* args, int size) {
  switch (size) {
    case 0:
      return va_arg(*args, int);
    case 1:
      return va_arg(*args, long);
    case 2:
      return va_arg(*args, long long);
    default:
      return (int64_t)va_arg(*args, size_t);
  }
}

/* The lowest bits of what was passed, as far as its type goes. */
static uint64_t next_unsigned(va_list* args, int size) {
  switch (size) {
    case 0:
      return va_arg(*args, unsigned);
    case 1:
      return va_arg(*args, unsigned long);
    case 2:
      return va_arg(*args, unsigned long long);
    default:
      return va_arg(*args, size_t);
  }
}

static const char* read_options(const char* fmt, struct conversion* how) {
  how->width = 0;
  how->padding = *fmt == '0' ? '0' : ' ';
  how->size = 0;
  for (; *fmt >= '0' && *fmt <= '9'; ++fmt) {
    how->width = how->width % 100u * 10u + (uint32_t)(*fmt - '0');
  }
  for (; *fmt == 'l' || *fmt == 'z'; ++fmt) {
    how->size = *fmt == 'z' ? 3 : how->size + 1;
  }
  return fmt;
}

static void convert(struct text* text, char letter, struct conversion how, va_list* args) {
  int64_t value = 0;
  switch (letter) {
    case 'd':
    case 'i':
      value = next_signed(args, how.size);
      put_number(text, how, value < 0 ? 0u - (uint64_t)value : (uint64_t)value, 10, value < 0);
      return;
    case 'u':
      put_number(text, how, next_unsigned(args, how.size), 10, 0);
      return;
    case 'x':
    case 'X':
      put_number(text, how, next_unsigned(args, how.size), 16, 0);
      return;
    case 'p':
      put_string(text, "0x");
      put_number(text, how, (uint64_t)(uintptr_t)va_arg(*args, void*), 16, 0);
      return;
    case 'c':
      put(text, (char)va_arg(*args, int));
      return;
    case 's':
      put_string(text, va_arg(*args, const char*));
      return;
    default:
      put(text, '%');
      if (letter != '%' && letter != '\0') {
        put(text, letter);
      }
      return;
  }
}

size_t TVMPlatformFormatMessage(char* out_buf, size_t out_buf_size_bytes, const char* fmt, va_list args) {
  if (out_buf_size_bytes == 0u) {
    return 0;
  }
  struct text text = {out_buf, out_buf_size_bytes - 1u, 0};
  va_list rest;
  va_copy(rest, args);
  while (*fmt != '\0') {
    if (*fmt != '%') {
      put(&text, *fmt++);
      continue;
    }
    struct conversion how;
    fmt = read_options(fmt + 1, &how);
    convert(&text, *fmt, how, &rest);
    fmt += *fmt != '\0';
  }
  va_end(rest);
  out_buf[text.length] = '\0';
  return text.length;
}
