/* SPDX-License-Identifier: Apache-2.0
 *
 * A driver without an NPU: it computes what the two parts of one model compute, and only if it is called as Arm's driver wants to be.
 */
#include "ethosu_driver.h"

#include <string.h>

static struct ethosu_driver* only;

int ethosu_init(struct ethosu_driver* drv, void* const base_address, const void* fast_memory,
                const size_t fast_memory_size, uint32_t secure_enable, uint32_t privilege_enable) {
  drv->base = (uintptr_t)base_address;
  drv->reserved = 0;
  only = drv;
  return drv->base == 0x58102000u && fast_memory == NULL && fast_memory_size == 0 && !secure_enable && privilege_enable
             ? 0
             : -1;
}

void ethosu_irq_handler(struct ethosu_driver* drv) {
  (void)drv;
}

struct ethosu_driver* ethosu_reserve_driver(void) {
  only->reserved++;
  return only;
}

void ethosu_release_driver(struct ethosu_driver* drv) {
  drv->reserved--;
}

static int8_t limited(int8_t value, int8_t least, int8_t most) {
  return value < least ? least : value > most ? most : value;
}

int ethosu_invoke_v3(struct ethosu_driver* drv, const void* custom_data_ptr, const int custom_data_size,
                     uint64_t* const base_addr, const size_t* base_addr_size, const int num_base_addr, void* user_arg) {
  (void)user_arg;
  if (drv->reserved != 1 || (uintptr_t)custom_data_ptr % 16u != 0 || custom_data_size % 4 != 0 ||
      memcmp(custom_data_ptr, "COP1", 4) != 0 || (num_base_addr != 5 && num_base_addr != 6)) {
    return -1;
  }
  for (int i = 0; i < 3; ++i) {
    if (base_addr[i] % 16u != 0) {
      return -1;
    }
  }
  const int8_t* const in = (const int8_t*)(uintptr_t)base_addr[3];
  int8_t* const out = (int8_t*)(uintptr_t)base_addr[4];
  for (size_t i = 0; i < base_addr_size[3]; ++i) {
    const int8_t value = in[i];
    if (num_base_addr == 6) {
      ((int8_t*)(uintptr_t)base_addr[5])[i] = limited(value, -128, 5);
      out[i] = limited(value, -10, 127);
    } else {
      out[i] = limited(value, -128, 20);
    }
  }
  return 0;
}
