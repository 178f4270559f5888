/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver's interface as firmware uses it, and streams of weights whose values are known.
 */
#include "check.h"
#include "ethosu_internal.h"

int ethosu_checks(void);

static unsigned begun;
static unsigned ended;
static size_t flushed;
static size_t invalidated;
static unsigned failed;

void ethosu_model_failed(struct ethosu_driver* drv) {
  (void)drv;
  ++failed;
}

void ethosu_inference_begin(struct ethosu_driver* drv, void* user_arg) {
  (void)drv;
  begun += user_arg == NULL ? 0u : *(unsigned*)user_arg;
}

void ethosu_inference_end(struct ethosu_driver* drv, void* user_arg) {
  (void)drv;
  ended += user_arg == NULL ? 0u : *(unsigned*)user_arg;
}

void ethosu_flush_dcache(const uint64_t* base_addr, const size_t* base_addr_size, int num_base_addr) {
  (void)base_addr;
  flushed += base_addr_size[num_base_addr - 1];
}

void ethosu_invalidate_dcache(const uint64_t* base_addr, const size_t* base_addr_size, int num_base_addr) {
  (void)base_addr;
  invalidated += base_addr_size[num_base_addr - 1];
}

static void check_weights(const uint8_t* bytes, size_t size, const int* values, unsigned count) {
  uint8_t stream[32];
  struct ethosu_weights weights;
  uint64_t work = 100;
  size_t whole = (size + 15u) / 16u * 16u;
  memset(stream, 0xff, sizeof(stream));
  memcpy(stream, bytes, size);
  ethosu_weights_open(&weights, stream, whole, &work);
  for (unsigned i = 0; i < count; ++i) {
    EXPECT(ethosu_weights_next(&weights) == values[i]);
  }
  ethosu_weights_close(&weights);
  EXPECT(weights.reason == ETHOSU_MODEL_OK);
  /* One more than there are; one fewer. */
  ethosu_weights_open(&weights, stream, whole, &work);
  for (unsigned i = 0; i < count + 1u; ++i) {
    (void)ethosu_weights_next(&weights);
  }
  EXPECT(weights.reason == ETHOSU_MODEL_WEIGHTS_CUT);
  ethosu_weights_open(&weights, stream, whole, &work);
  for (unsigned i = 0; i < count - 1u; ++i) {
    (void)ethosu_weights_next(&weights);
  }
  ethosu_weights_close(&weights);
  EXPECT(weights.reason == ETHOSU_MODEL_WEIGHTS_LEFT);
}

static void check_known_streams(void) {
  static const uint8_t palette[] = {0x26, 0x00, 0x5c, 0x30, 0x02, 0x4e, 0x0b, 0xfd};
  static const uint8_t zeros[] = {0x02, 0x00, 0x40, 0x00, 0x10, 0x00, 0x0e, 0x80};
  static const uint8_t extremes[] = {0x1e, 0x00, 0xdc, 0x3f, 0xfe, 0xdf, 0x7f, 0x40, 0x7f, 0x4e};
  static const uint8_t same[] = {0x3e, 0x00, 0x40, 0x15, 0xa4, 0x00, 0x00};
  static const uint8_t row[] = {0x7e, 0x00, 0x5c, 0xf0, 0x16, 0x9f, 0x6b, 0x6c, 0xa9, 0x84, 0x8e, 0x29,
                                0x64, 0x08, 0x00, 0x31, 0x75, 0xb9, 0xfd, 0xce, 0x8a, 0x46, 0xf2};
  static const int nothing[16] = {0};
  check_weights(palette, sizeof(palette), (const int[]){1, -1, 0, 0, 2}, 5);
  check_weights(zeros, sizeof(zeros), nothing, 16);
  check_weights(extremes, sizeof(extremes), (const int[]){-128, 127, -255, 255}, 4);
  check_weights(same, sizeof(same), (const int[]){5, 5, 5, 5, 5, 5, 5, 5}, 8);
  check_weights(row, sizeof(row), (const int[]){-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7}, 16);
}

/* A payload that copies 16 bytes from the constants to the fast memory, region 2. */
static uint32_t payload[] __attribute__((aligned(16))) = {
    0x31504f43u, 0x00100001u, 0x1807u,     0x10060000u, 5u,          5u,      5u,          0x000a0002u,
    0x00000130u, 0x00020131u, 0x00004030u, 0u,          0x00004031u, 16u,     0x00004032u, 16u,
    0x00000010u, 0xffff0000u};

static void check_invocations(void) {
  struct ethosu_driver npu;
  struct ethosu_driver* driver;
  static uint8_t constants[16] __attribute__((aligned(16))) = {1, 2, 3};
  static uint8_t fast[32] __attribute__((aligned(16)));
  uint64_t bases[] = {(uintptr_t)constants, 0, (uintptr_t)constants};
  size_t sizes[] = {sizeof(constants), 0, sizeof(fast)};
  unsigned user = 1;
  EXPECT(ethosu_reserve_driver() == NULL);
  EXPECT(ethosu_init(&npu, NULL, fast + 1, 16, 1, 1) == -1);
  EXPECT(ethosu_init(&npu, NULL, fast, sizeof(fast), 1, 1) == 0);
  driver = ethosu_reserve_driver();
  EXPECT(driver == &npu && ethosu_reserve_driver() == NULL);
  EXPECT(ethosu_invoke_v3(driver, payload, (int)sizeof(payload), bases, sizes, 3, &user) == -1);
  EXPECT(ethosu_model_last_error(driver)->reason == ETHOSU_MODEL_NOT_CONFIGURED);
  ethosu_model_configure(driver, 0x1807);
  EXPECT(ethosu_wait(driver, true) == -2);
  EXPECT(ethosu_invoke_v3(driver, payload, (int)sizeof(payload), bases, sizes, 3, &user) == 0);
  EXPECT(fast[16] == 1 && fast[17] == 2 && fast[18] == 3 && fast[0] == 0);
  EXPECT(begun == 2u && ended == 2u && flushed == 64u && invalidated == 64u);
  EXPECT(ethosu_invoke_async(driver, payload, (int)sizeof(payload), bases, sizes, 3, &user) == 0);
  EXPECT(ethosu_invoke_async(driver, payload, (int)sizeof(payload), bases, sizes, 3, &user) == -1);
  EXPECT(ethosu_wait(driver, false) == 0 && ended == 3u);
  ethosu_model_limit(driver, 8);
  EXPECT(ethosu_invoke_v3(driver, payload, (int)sizeof(payload), bases, sizes, 3, &user) == -1);
  EXPECT(ethosu_model_last_error(driver)->reason == ETHOSU_MODEL_WORK_LIMIT && failed == 2u);
  sizes[2] = sizeof(fast) + 1u;
  EXPECT(ethosu_invoke_v3(driver, payload, (int)sizeof(payload), bases, sizes, 3, &user) == -1);
  EXPECT(ethosu_model_last_error(driver)->reason == ETHOSU_MODEL_BASES);
  EXPECT(ethosu_invoke_v3(driver, payload, (int)sizeof(payload), bases, sizes, 9, &user) == -1);
  bases[0] += 8u;
  EXPECT(ethosu_invoke_v3(driver, payload, (int)sizeof(payload), bases, sizes, 2, &user) == -1);
  EXPECT(ethosu_model_last_error(driver)->reason == ETHOSU_MODEL_BASES);
  ethosu_release_driver(driver);
  EXPECT(ethosu_reserve_driver() == driver);
  ethosu_deinit(driver);
  EXPECT(ethosu_reserve_driver() == NULL);
}

static void check_information(void) {
  struct ethosu_driver npu;
  struct ethosu_hw_info info;
  EXPECT(ethosu_init(&npu, NULL, NULL, 0, 1, 1) == 0);
  ethosu_model_configure(&npu, 0x10006009);
  ethosu_get_hw_info(&npu, &info);
  EXPECT(info.version.product_major == 1u && info.cfg.macs_per_cc == 9u);
  EXPECT(ethosu_request_power(&npu) == 0 && ethosu_soft_reset(&npu) == 0);
  ethosu_deinit(&npu);
}

int ethosu_checks(void) {
  check_known_streams();
  check_invocations();
  check_information();
  DONE("the driver and the weights do what they should");
  return 0;
}
