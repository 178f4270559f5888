/* SPDX-License-Identifier: Apache-2.0
 *
 * The flash of an STM32F405 as kiln_update.h wants it, for programs that write updates of their models: RM0090, embedded flash memory
 * interface. It writes words, which takes at least 2.7 V. The core waits while it reads flash during an operation. The caches of the flash are
 * off after reset; a program that turns them on resets them after an update.
 */
#ifndef KILN_FLASH_H_
#define KILN_FLASH_H_

#include <stdint.h>

#include "kiln_update.h"

#define KILN_FLASH_REGISTER(offset) (*(volatile uint32_t*)(0x40023c00u + (offset)))
#define KILN_FLASH_KEYR KILN_FLASH_REGISTER(0x04u)
#define KILN_FLASH_SR KILN_FLASH_REGISTER(0x0cu)
#define KILN_FLASH_CR KILN_FLASH_REGISTER(0x10u)

#define KILN_FLASH_BASE 0x08000000u
#define KILN_FLASH_BUSY (1u << 16)
#define KILN_FLASH_ERRORS 0xf2u
#define KILN_FLASH_PROGRAM 1u
#define KILN_FLASH_ERASE (1u << 1)
#define KILN_FLASH_WORDS (2u << 8)
#define KILN_FLASH_START (1u << 16)
#define KILN_FLASH_LOCK (1u << 31)

/* Four sectors of 16 KiB, one of 64 KiB, then sectors of 128 KiB. */
static inline uint32_t kiln_flash_sector(uint32_t offset) {
  return offset < 0x10000u ? offset / 0x4000u : 4u + offset / 0x20000u;
}

static inline void kiln_flash_unlock(void) {
  if ((KILN_FLASH_CR & KILN_FLASH_LOCK) != 0u) {
    KILN_FLASH_KEYR = 0x45670123u;
    KILN_FLASH_KEYR = 0xcdef89abu;
  }
  KILN_FLASH_SR = KILN_FLASH_ERRORS; /* written ones clear the flags of earlier operations */
}

/* Waits for the end of an operation; returns 0 if it succeeded. */
static inline int kiln_flash_end(void) {
  while ((KILN_FLASH_SR & KILN_FLASH_BUSY) != 0u) {
  }
  return (KILN_FLASH_SR & KILN_FLASH_ERRORS) == 0u ? 0 : -1;
}

static inline int kiln_flash_erase(uintptr_t address, uint32_t bytes) {
  uint32_t first = kiln_flash_sector((uint32_t)address - KILN_FLASH_BASE);
  uint32_t last = kiln_flash_sector((uint32_t)address - KILN_FLASH_BASE + bytes - 1u);
  int status = 0;
  kiln_flash_unlock();
  for (uint32_t sector = first; sector <= last && status == 0; ++sector) {
    KILN_FLASH_CR = KILN_FLASH_WORDS | KILN_FLASH_ERASE | sector << 3;
    KILN_FLASH_CR = KILN_FLASH_WORDS | KILN_FLASH_ERASE | sector << 3 | KILN_FLASH_START;
    status = kiln_flash_end();
  }
  KILN_FLASH_CR = KILN_FLASH_LOCK;
  return status;
}

static inline int kiln_flash_write(uintptr_t address, const void* data, uint32_t bytes) {
  const uint8_t* from = data;
  int status = 0;
  kiln_flash_unlock();
  KILN_FLASH_CR = KILN_FLASH_WORDS | KILN_FLASH_PROGRAM;
  for (uint32_t i = 0; i < bytes && status == 0; i += 4u) {
    *(volatile uint32_t*)(address + i) =
        from[i] | (uint32_t)from[i + 1u] << 8 | (uint32_t)from[i + 2u] << 16 | (uint32_t)from[i + 3u] << 24;
    status = kiln_flash_end();
  }
  KILN_FLASH_CR = KILN_FLASH_LOCK;
  return status;
}

static const struct kiln_flash kiln_board_flash = {kiln_flash_erase, kiln_flash_write};

#endif
