/* SPDX-License-Identifier: Apache-2.0
 *
 * A platform for the RPC server on this computer: its memory and its line.
 */
#ifndef RPC_PLATFORM_H_
#define RPC_PLATFORM_H_

#include <stdlib.h>
#include <string.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/internal/minrpc/rpc_reference.h>
#include <tvm/runtime/crt/microtvm_rpc_server.h>
#include <tvm/runtime/crt/platform.h>
#include <tvm/runtime/crt/rpc_common/session.h>

#include "check.h"

#define HOST_MOST 8192u

static microtvm_rpc_server_t server;
static uint8_t from_server[4u * HOST_MOST];
static size_t from_server_size;
static size_t live_blocks;

/* Blocks in a list, so that a reset can free them all. */
struct block {
  struct block* next;
  struct block* before;
  uint64_t alignment[2];
};

static struct block blocks = {&blocks, &blocks, {0, 0}};

static inline ssize_t host_write(void* context, const uint8_t* data, size_t size) {
  (void)context;
  if (from_server_size + size > sizeof(from_server)) {
    from_server_size = 0; /* Nobody reads. */
  }
  memcpy(from_server + from_server_size, data, size);
  from_server_size += size;
  return (ssize_t)size;
}

/* The platform. */

tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice dev, void** out_ptr) {
  (void)dev;
  *out_ptr = NULL;
  struct block* block = num_bytes > (1u << 20) ? NULL : malloc(sizeof(struct block) + num_bytes);
  if (block == NULL) {
    return kTvmErrorPlatformNoMemory;
  }
  block->next = blocks.next;
  block->before = &blocks;
  block->next->before = block;
  blocks.next = block;
  ++live_blocks;
  *out_ptr = block + 1;
  return kTvmErrorNoError;
}

tvm_crt_error_t TVMPlatformMemoryFree(void* ptr, DLDevice dev) {
  (void)dev;
  struct block* block = (struct block*)ptr - 1;
  EXPECT(live_blocks > 0);
  --live_blocks;
  block->next->before = block->before;
  block->before->next = block->next;
  free(block);
  return kTvmErrorNoError;
}

/* What a reset does to memory. */
static inline void forget_memory(void) {
  static const DLDevice cpu = {kDLCPU, 0};
  while (blocks.next != &blocks) {
    (void)TVMPlatformMemoryFree(blocks.next + 1, cpu);
  }
}

void TVMPlatformAbort(tvm_crt_error_t code) {
  (void)fprintf(stderr, "aborted: 0x%x\n", (unsigned)code);
  abort();
}

size_t TVMPlatformFormatMessage(char* out_buf, size_t out_buf_size_bytes, const char* fmt, va_list args) {
  int length = vsnprintf(out_buf, out_buf_size_bytes, fmt, args);
  return length < 0 ? 0u : (size_t)length; /* Like some platforms: how long it would have been. */
}

tvm_crt_error_t TVMPlatformGenerateRandom(uint8_t* buffer, size_t num_bytes) {
  memset(buffer, 0xab, num_bytes);
  return kTvmErrorNoError;
}

/* The line. */

/* What the server answers to some bytes. */
static inline tvm_crt_error_t give(const uint8_t* bytes, size_t size) {
  uint8_t* copy = malloc(size == 0u ? 1u : size); /* of just this size, for the sanitizer */
  uint8_t* at = copy;
  size_t left = size;
  tvm_crt_error_t error = kTvmErrorNoError;
  EXPECT(copy != NULL);
  if (size > 0u) {
    memcpy(copy, bytes, size);
  }
  do {
    size_t before = left;
    error = MicroTVMRpcServerLoop(server, &at, &left);
    EXPECT(left < before || left == 0u || error == kTvmErrorPlatformShutdown);
  } while (left > 0u && error != kTvmErrorPlatformShutdown);
  free(copy);
  return error;
}

#endif
