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

void* SHIM(memcpy)(void* restrict to, const void* restrict from, size_t bytes) {
  uint8_t* d = to;
  const uint8_t* s = from;
  if (bytes >= 2u * WORD && MISALIGNED(d) == MISALIGNED(s)) {
    for (; MISALIGNED(d) != 0u; --bytes) {
      *d++ = *s++;
    }
    word* dw = (word*)(void*)d;
    const word* sw = (const word*)(const void*)s;
    for (; bytes >= 4u * WORD; bytes -= 4u * WORD) {
      word a = sw[0];
      word b = sw[1];
      word c = sw[2];
      word e = sw[3];
      dw[0] = a;
      dw[1] = b;
      dw[2] = c;
      dw[3] = e;
      dw += 4;
      sw += 4;
    }
    for (; bytes >= WORD; bytes -= WORD) {
      *dw++ = *sw++;
    }
    d = (uint8_t*)dw;
    s = (const uint8_t*)sw;
  }
  for (; bytes != 0u; --bytes) {
    *d++ = *s++;
  }
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
