/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked with the archive's platform.c.template, whose hooks replace the weak ones.
 */
#include <stdarg.h>
#include <string.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/crt/platform.h>

#include "check.h"

static size_t format(char* buffer, size_t size, const char* fmt, ...) {
  va_list args;
  va_start(args, fmt);
  size_t length = TVMPlatformFormatMessage(buffer, size, fmt, args);
  va_end(args);
  return length;
}

static void workspaces_come_from_the_stack_allocator(void) {
  EXPECT(TVMPlatformInitialize() == kTvmErrorNoError);
  void* first = TVMBackendAllocWorkspace(kDLCPU, 0, 100, 0, 8);
  void* second = TVMBackendAllocWorkspace(kDLCPU, 0, 100, 0, 8);
  EXPECT(first != NULL && second != NULL && (uint8_t*)second - (uint8_t*)first == 112);
  EXPECT(TVMBackendAllocWorkspace(kDLCPU, 0, 1u << 20, 0, 8) == NULL);
  EXPECT(TVMBackendAllocWorkspace(kDLCPU, 0, UINT64_MAX, 0, 8) == NULL);
  EXPECT(TVMBackendFreeWorkspace(kDLCPU, 0, second) == 0);
  EXPECT(TVMBackendFreeWorkspace(kDLCPU, 0, first) == 0);
}

static void messages_are_cut_to_their_buffer(void) {
  char buffer[6];
  EXPECT(format(buffer, sizeof(buffer), "%d", 42) == 2u && strcmp(buffer, "42") == 0);
  EXPECT(format(buffer, sizeof(buffer), "%s", "too long") == 5u && strcmp(buffer, "too l") == 0);
}

static void timers_run_once(void) {
  double seconds = -1.0;
  EXPECT(TVMPlatformTimerStop(&seconds) == kTvmErrorPlatformTimerBadState);
  EXPECT(TVMPlatformTimerStart() == kTvmErrorNoError);
  EXPECT(TVMPlatformTimerStart() == kTvmErrorPlatformTimerBadState);
  EXPECT(TVMPlatformTimerStop(&seconds) == kTvmErrorNoError && seconds >= 0.0);
}

static void random_bytes_differ(void) {
  uint8_t first[16];
  uint8_t second[16];
  EXPECT(TVMPlatformGenerateRandom(first, sizeof(first)) == kTvmErrorNoError);
  EXPECT(TVMPlatformGenerateRandom(second, sizeof(second)) == kTvmErrorNoError);
  EXPECT(memcmp(first, second, sizeof(first)) != 0);
}

int main(void) {
  workspaces_come_from_the_stack_allocator();
  messages_are_cut_to_their_buffer();
  timers_run_once();
  random_bytes_differ();
  return 0;
}
