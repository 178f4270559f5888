/* SPDX-License-Identifier: Apache-2.0
 *
 * memcpy and its kin, word by word where the pointers allow it, and the names by which the Arm run-time ABI calls them.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kiln_shims.h"

typedef uint32_t __attribute__((may_alias)) word;

#define WORD sizeof(word)
#define MISALIGNED(pointer) ((uintptr_t)(pointer) & (WORD - 1u))

#if defined(__clang__)
#define NOT_UNROLLED _Pragma("clang loop unroll(disable)")
#else
#define NOT_UNROLLED
#endif

#define LIKELY(condition) __builtin_expect((condition), 1)
/* Vectors of MVE are better than instructions of Thumb-2. */
#if defined(__thumb__) && __ARM_ARCH_ISA_THUMB >= 2 && !defined(__ARM_FEATURE_MVE)
#define THUMB_2
#if defined(__OPTIMIZE_SIZE__)
#define BLOCK "32"
#else
#define BLOCK "64"
#endif
#endif

/* Whether words can be copied once the target is aligned. LDR, unlike LDM, loads words from any address. */
#if defined(THUMB_2) && defined(__ARM_FEATURE_UNALIGNED)
#define WORDS_FIT(to, from) 1
#else
#define WORDS_FIT(to, from) LIKELY(MISALIGNED(to) == MISALIGNED(from))
#endif

/* Copies whole words, moves the pointers behind them, and returns the number of bytes that are left. */
static inline size_t copy_aligned(word** restrict to, const word** restrict from, size_t bytes) {
  word* restrict d = *to;
  const word* restrict s = *from;
#if defined(THUMB_2)
  /* A load behind another access takes one cycle, and a Cortex-M7 loads and stores a word at the same time. Clang would make LDM and STM of it. */
  word a;
  word b;
  __asm__ volatile(
      "subs %[bytes], #" BLOCK "\n"
      "bcc 2f\n"
      "1:\n"
      "ldr %[a], [%[s]]\n"
      ".set .Lkiln_at, 0\n"
      ".rept " BLOCK " / 8 - 1\n"
      "  ldr %[b], [%[s], #.Lkiln_at + 4]\n"
      "  str %[a], [%[d], #.Lkiln_at]\n"
      "  ldr %[a], [%[s], #.Lkiln_at + 8]\n"
      "  str %[b], [%[d], #.Lkiln_at + 4]\n"
      "  .set .Lkiln_at, .Lkiln_at + 8\n"
      ".endr\n"
      "ldr %[b], [%[s], #.Lkiln_at + 4]\n"
      "str %[a], [%[d], #.Lkiln_at]\n"
      "str %[b], [%[d], #.Lkiln_at + 4]\n"
      "adds %[s], #" BLOCK "\n"
      "adds %[d], #" BLOCK "\n"
      "subs %[bytes], #" BLOCK "\n"
      "bcs 1b\n"
      "2:\n"
      "adds %[bytes], #" BLOCK "\n"
      "beq 7f\n"
#if !defined(__OPTIMIZE_SIZE__)
      "subs %[bytes], #16\n"
      "bcc 4f\n"
      "3:\n"
      "ldr %[a], [%[s]]\n"
      "ldr %[b], [%[s], #4]\n"
      "str %[a], [%[d]]\n"
      "ldr %[a], [%[s], #8]\n"
      "str %[b], [%[d], #4]\n"
      "ldr %[b], [%[s], #12]\n"
      "str %[a], [%[d], #8]\n"
      "str %[b], [%[d], #12]\n"
      "adds %[s], #16\n"
      "adds %[d], #16\n"
      "subs %[bytes], #16\n"
      "bcs 3b\n"
      "4:\n"
      "adds %[bytes], #16\n"
#endif
      "subs %[bytes], #4\n"
      "bcc 6f\n"
      "5:\n"
      "ldr %[a], [%[s]], #4\n"
      "str %[a], [%[d]], #4\n"
      "subs %[bytes], #4\n"
      "bcs 5b\n"
      "6:\n"
      "adds %[bytes], #4\n"
      "7:\n"
      : [a] "=&l"(a), [b] "=&l"(b), [d] "+l"(d), [s] "+l"(s), [bytes] "+l"(bytes)
      :
      : "cc", "memory");
#else
  NOT_UNROLLED
  for (; bytes >= 4u * WORD; bytes -= 4u * WORD) {
    word a = s[0];
    word b = s[1];
    word c = s[2];
    word e = s[3];
    d[0] = a;
    d[1] = b;
    d[2] = c;
    d[3] = e;
    d += 4;
    s += 4;
  }
  NOT_UNROLLED
  for (; bytes >= WORD; bytes -= WORD) {
    *d++ = *s++;
  }
#endif
  *to = d;
  *from = s;
  return bytes;
}

static inline void copy_bytes(uint8_t* restrict d, const uint8_t* restrict s, size_t bytes) {
  NOT_UNROLLED
  for (; bytes != 0u; --bytes) {
    *d++ = *s++;
  }
}

/* Two words or more. A function of its own, so that memcpy saves no registers for a few bytes. */
static __attribute__((noinline)) void* kiln_copy_words(void* restrict to, const void* restrict from, size_t bytes) {
  uint8_t* d = to;
  const uint8_t* s = from;
  if (WORDS_FIT(d, s)) {
    NOT_UNROLLED
    for (; !LIKELY(MISALIGNED(d) == 0u); --bytes) {
      *d++ = *s++;
    }
    word* dw = (word*)(void*)d;
    const word* sw = (const word*)(const void*)s;
    bytes = copy_aligned(&dw, &sw, bytes);
    d = (uint8_t*)dw;
    s = (const uint8_t*)sw;
  }
  copy_bytes(d, s, bytes);
  return to;
}

void* SHIM(memcpy)(void* restrict to, const void* restrict from, size_t bytes) {
  if (bytes >= 2u * WORD) {
    return kiln_copy_words(to, from, bytes);
  }
  copy_bytes(to, from, bytes);
  return to;
}

void* SHIM(memmove)(void* to, const void* from, size_t bytes) {
  uint8_t* d = to;
  const uint8_t* s = from;
  if ((uintptr_t)d - (uintptr_t)s >= bytes) {
    /* No byte is written before it is read: upwards is safe. */
    for (; bytes != 0u && MISALIGNED(d) != 0u; --bytes) {
      *d++ = *s++;
    }
    if (MISALIGNED(s) == 0u) {
      for (; bytes >= WORD; bytes -= WORD) {
        *(word*)(void*)d = *(const word*)(const void*)s;
        d += WORD;
        s += WORD;
      }
    }
    for (; bytes != 0u; --bytes) {
      *d++ = *s++;
    }
    return to;
  }
  d += bytes;
  s += bytes;
  for (; bytes != 0u && MISALIGNED(d) != 0u; --bytes) {
    *--d = *--s;
  }
  if (MISALIGNED(s) == 0u) {
    for (; bytes >= WORD; bytes -= WORD) {
      d -= WORD;
      s -= WORD;
      *(word*)(void*)d = *(const word*)(const void*)s;
    }
  }
  for (; bytes != 0u; --bytes) {
    *--d = *--s;
  }
  return to;
}

void* SHIM(memset)(void* to, int value, size_t bytes) {
  uint8_t* d = to;
  uint8_t byte = (uint8_t)value;
  for (; bytes != 0u && MISALIGNED(d) != 0u; --bytes) {
    *d++ = byte;
  }
  word pattern = 0x01010101u * (word)byte;
  word* dw = (word*)(void*)d;
  for (; bytes >= 4u * WORD; bytes -= 4u * WORD) {
    dw[0] = pattern;
    dw[1] = pattern;
    dw[2] = pattern;
    dw[3] = pattern;
    dw += 4;
  }
  for (; bytes >= WORD; bytes -= WORD) {
    *dw++ = pattern;
  }
  d = (uint8_t*)dw;
  for (; bytes != 0u; --bytes) {
    *d++ = byte;
  }
  return to;
}

int SHIM(memcmp)(const void* a, const void* b, size_t bytes) {
  const uint8_t* x = a;
  const uint8_t* y = b;
  for (; bytes != 0u; --bytes, ++x, ++y) {
    if (*x != *y) {
      return (int)*x - (int)*y;
    }
  }
  return 0;
}

#if defined(__arm__)

void __aeabi_memcpy(void* to, const void* from, size_t bytes);
void __aeabi_memcpy4(void* to, const void* from, size_t bytes);
void __aeabi_memcpy8(void* to, const void* from, size_t bytes);
void __aeabi_memmove(void* to, const void* from, size_t bytes);
void __aeabi_memmove4(void* to, const void* from, size_t bytes);
void __aeabi_memmove8(void* to, const void* from, size_t bytes);
void __aeabi_memset(void* to, size_t bytes, int value);
void __aeabi_memset4(void* to, size_t bytes, int value);
void __aeabi_memset8(void* to, size_t bytes, int value);
void __aeabi_memclr(void* to, size_t bytes);
void __aeabi_memclr4(void* to, size_t bytes);
void __aeabi_memclr8(void* to, size_t bytes);

void __aeabi_memcpy(void* to, const void* from, size_t bytes) {
  (void)memcpy(to, from, bytes);
}

void __aeabi_memcpy4(void* to, const void* from, size_t bytes) {
  (void)memcpy(to, from, bytes);
}

void __aeabi_memcpy8(void* to, const void* from, size_t bytes) {
  (void)memcpy(to, from, bytes);
}

void __aeabi_memmove(void* to, const void* from, size_t bytes) {
  (void)memmove(to, from, bytes);
}

void __aeabi_memmove4(void* to, const void* from, size_t bytes) {
  (void)memmove(to, from, bytes);
}

void __aeabi_memmove8(void* to, const void* from, size_t bytes) {
  (void)memmove(to, from, bytes);
}

void __aeabi_memset(void* to, size_t bytes, int value) {
  (void)memset(to, value, bytes);
}

void __aeabi_memset4(void* to, size_t bytes, int value) {
  (void)memset(to, value, bytes);
}

void __aeabi_memset8(void* to, size_t bytes, int value) {
  (void)memset(to, value, bytes);
}

void __aeabi_memclr(void* to, size_t bytes) {
  (void)memset(to, 0, bytes);
}

void __aeabi_memclr4(void* to, size_t bytes) {
  (void)memset(to, 0, bytes);
}

void __aeabi_memclr8(void* to, size_t bytes) {
  (void)memset(to, 0, bytes);
}

#endif
