/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs an exported library's example on QEMU's machine sim. Debian's libgcc for the ESP8266's core leaves out functions that the chip has in its
 * ROM; those that models of integers call are here.
 */
#include <stdint.h>

enum { SYS_EXIT = 1, SYS_WRITE = 4, STANDARD_OUTPUT = 1 };

extern char __bss_start[];
extern char _end[];

int simcall(int number, int a, int b, int c);
int main(void);
int printf(const char* format, ...);
void start(void);

void start(void) {
  for (char* byte = __bss_start; byte < _end; ++byte) {
    *byte = 0;
  }
  simcall(SYS_EXIT, main(), 0, 0);
  for (;;) {
  }
}

/* The example prints one line: text, and numbers below ten. */
int printf(const char* format, ...) {
  __builtin_va_list arguments;
  __builtin_va_start(arguments, format);
  for (const char* at = format; *at != '\0'; ++at) {
    char digit;
    const char* from = at;
    int length = 1;
    if (at[0] == '%' && at[1] == 's') {
      from = __builtin_va_arg(arguments, const char*);
      for (length = 0; from[length] != '\0';) {
        ++length;
      }
      ++at;
    } else if (at[0] == '%' && at[1] == 'd') {
      int value = __builtin_va_arg(arguments, int);
      digit = value < 10 ? (char)('0' + value) : '#';
      from = &digit;
      ++at;
    }
    simcall(SYS_WRITE, STANDARD_OUTPUT, (int)(uintptr_t)from, length);
  }
  __builtin_va_end(arguments);
  return 0;
}

union wide {
  uint64_t whole;
  struct {
    uint32_t low;
    uint32_t high;
  } half;
};

uint64_t __muldi3(uint64_t a, uint64_t b);
uint64_t __udivdi3(uint64_t a, uint64_t b);
uint64_t __umoddi3(uint64_t a, uint64_t b);
int64_t __divdi3(int64_t a, int64_t b);
uint32_t __udivsi3(uint32_t a, uint32_t b);
uint32_t __umodsi3(uint32_t a, uint32_t b);
int32_t __divsi3(int32_t a, int32_t b);

uint64_t __muldi3(uint64_t a, uint64_t b) {
  union wide x = {a};
  union wide y = {b};
  union wide product;
  const uint32_t al = x.half.low & 0xffffu;
  const uint32_t ah = x.half.low >> 16;
  const uint32_t bl = y.half.low & 0xffffu;
  const uint32_t bh = y.half.low >> 16;
  const uint32_t low = al * bl;
  const uint32_t first = ah * bl + (low >> 16);
  const uint32_t second = al * bh + (first & 0xffffu);
  product.half.low = (second << 16) | (low & 0xffffu);
  product.half.high = ah * bh + (first >> 16) + (second >> 16) + x.half.low * y.half.high + x.half.high * y.half.low;
  return product.whole;
}

static uint64_t divided(uint64_t a, uint64_t b, uint64_t* rest) {
  uint64_t quotient = 0;
  uint64_t left = 0;
  for (int bit = 63; bit >= 0; --bit) {
    left = (left << 1) | ((a >> bit) & 1u);
    if (left >= b) {
      left -= b;
      quotient |= (uint64_t)1 << bit;
    }
  }
  *rest = left;
  return quotient;
}

uint64_t __udivdi3(uint64_t a, uint64_t b) {
  uint64_t rest;
  return divided(a, b, &rest);
}

uint64_t __umoddi3(uint64_t a, uint64_t b) {
  uint64_t rest;
  (void)divided(a, b, &rest);
  return rest;
}

int64_t __divdi3(int64_t a, int64_t b) {
  const uint64_t quotient = __udivdi3(a < 0 ? 0u - (uint64_t)a : (uint64_t)a, b < 0 ? 0u - (uint64_t)b : (uint64_t)b);
  return (int64_t)((a < 0) != (b < 0) ? 0u - quotient : quotient);
}

uint32_t __udivsi3(uint32_t a, uint32_t b) {
  return (uint32_t)__udivdi3(a, b);
}

uint32_t __umodsi3(uint32_t a, uint32_t b) {
  return (uint32_t)__umoddi3(a, b);
}

int32_t __divsi3(int32_t a, int32_t b) {
  return (int32_t)__divdi3(a, b);
}
