/* SPDX-License-Identifier: Apache-2.0
 *
 * The public interface of the Ethos-U's driver, as much of it as firmware calls, over a model of the NPU in software. The model takes
 * the driver's place on this computer and in an emulator, which has no NPU; an image for a chip is linked with the chip's own driver.
 */
#ifndef ETHOSU_DRIVER_H
#define ETHOSU_DRIVER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ethosu_model.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ETHOSU_DRIVER_VERSION_MAJOR 0
#define ETHOSU_DRIVER_VERSION_MINOR 16
#define ETHOSU_DRIVER_VERSION_PATCH 0

/*! \brief What ethosu_invoke_async() left for ethosu_wait(). */
enum ethosu_job_state { ETHOSU_JOB_IDLE, ETHOSU_JOB_DONE };

/*! \brief One NPU. Its content belongs to the driver. */
struct ethosu_driver {
  struct ethosu_driver* next;
  uint64_t fast_memory;
  size_t fast_memory_size;
  bool reserved;
  enum ethosu_job_state state;
  int result;
  const uint64_t* base_addr;
  const size_t* base_addr_size;
  int num_base_addr;
  void* user_arg;
  struct ethosu_model model;
};

/*! \brief Version of the interface. */
struct ethosu_driver_version {
  uint8_t major;
  uint8_t minor;
  uint8_t patch;
};

/*! \brief Versions of the hardware. */
struct ethosu_id {
  uint32_t version_status;
  uint32_t version_minor;
  uint32_t version_major;
  uint32_t product_major;
  uint32_t arch_patch_rev;
  uint32_t arch_minor_rev;
  uint32_t arch_major_rev;
};

/*! \brief Configuration of the hardware; macs_per_cc is a power of two. */
struct ethosu_config {
  uint32_t macs_per_cc;
  uint32_t cmd_stream_version;
  uint32_t custom_dma;
};

/*! \brief What ethosu_get_hw_info() tells. */
struct ethosu_hw_info {
  struct ethosu_id version;
  struct ethosu_config cfg;
};

/* Functions of the firmware; the ones here do nothing. */
void ethosu_flush_dcache(const uint64_t* base_addr, const size_t* base_addr_size, int num_base_addr);
void ethosu_invalidate_dcache(const uint64_t* base_addr, const size_t* base_addr_size, int num_base_addr);
void ethosu_inference_begin(struct ethosu_driver* drv, void* user_arg);
void ethosu_inference_end(struct ethosu_driver* drv, void* user_arg);

/*!
 * \brief Registers an NPU. The model has no registers, so base_address is not touched; its configuration is ETHOSU_MODEL_CONFIG until
 *        ethosu_model_configure() says another.
 * \return 0, or -1 if the driver is none or the fast memory is not aligned to 16 bytes
 */
int ethosu_init(struct ethosu_driver* drv, void* const base_address, const void* fast_memory,
                const size_t fast_memory_size, uint32_t secure_enable, uint32_t privilege_enable);
void ethosu_deinit(struct ethosu_driver* drv);
int ethosu_soft_reset(struct ethosu_driver* drv);
int ethosu_request_power(struct ethosu_driver* drv);
void ethosu_release_power(struct ethosu_driver* drv);
void ethosu_get_driver_version(struct ethosu_driver_version* ver);
void ethosu_get_hw_info(struct ethosu_driver* drv, struct ethosu_hw_info* hw);
void ethosu_irq_handler(struct ethosu_driver* drv);

/*!
 * \brief Takes an NPU that nobody has.
 * \return NULL if there is none, where the hardware's driver waits for one
 */
struct ethosu_driver* ethosu_reserve_driver(void);
void ethosu_release_driver(struct ethosu_driver* drv);

/*!
 * \brief Executes a payload of Vela's.
 * \return 0, or -1 with the reason in ethosu_model_last_error()
 */
int ethosu_invoke_v3(struct ethosu_driver* drv, const void* custom_data_ptr, const int custom_data_size,
                     uint64_t* const base_addr, const size_t* base_addr_size, const int num_base_addr,
                     void* user_arg);

/*! \brief As ethosu_invoke_v3(), with its result left to ethosu_wait(). */
int ethosu_invoke_async(struct ethosu_driver* drv, const void* custom_data_ptr, const int custom_data_size,
                        uint64_t* const base_addr, const size_t* base_addr_size, const int num_base_addr,
                        void* user_arg);

/*! \brief Result of ethosu_invoke_async(): 0, -1 after an error, -2 if nothing was invoked. */
int ethosu_wait(struct ethosu_driver* drv, bool block);

#define ethosu_invoke(drv, custom_data_ptr, custom_data_size, base_addr, base_addr_size, num_base_addr) \
  ethosu_invoke_v3(drv, custom_data_ptr, custom_data_size, base_addr, base_addr_size, num_base_addr, 0)

/*! \brief ethosu_invoke_v3() on an NPU that it reserves. */
static inline int ethosu_invoke_v2(const void* custom_data_ptr, const int custom_data_size, uint64_t* const base_addr,
                                   const size_t* base_addr_size, const int num_base_addr) {
  struct ethosu_driver* drv = ethosu_reserve_driver();
  int result =
      ethosu_invoke_v3(drv, custom_data_ptr, custom_data_size, base_addr, base_addr_size, num_base_addr, NULL);
  ethosu_release_driver(drv);
  return result;
}

#ifdef __cplusplus
}
#endif

#endif /* ETHOSU_DRIVER_H */
