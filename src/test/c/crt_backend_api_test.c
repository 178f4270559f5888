/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/crt/logging.h>
#include <tvm/runtime/crt/platform.h>

#include "check.h"

static void layouts_are_those_of_the_interface(void) {
  EXPECT(sizeof(DLDataType) == 4u && sizeof(DLDevice) == 8u && sizeof(TVMValue) == 8u);
  EXPECT(offsetof(DLTensor, device) == sizeof(void*));
  EXPECT(sizeof(void*) != 8u || sizeof(DLTensor) == 48u);
  EXPECT(kDLCPU == 1 && kDLFloat == 2 && kTVMDLTensorHandle == 7 && kTVMNDArrayHandle == 13);
}

static void error_codes_are_category_and_number(void) {
  EXPECT(kTvmErrorFunctionNameNotFound ==
         DEFINE_TVM_CRT_ERROR(kTvmErrorCategoryFunctionRegistry, 0));
  EXPECT(kTvmErrorFramingInvalidEscape == DEFINE_TVM_CRT_ERROR(kTvmErrorCategoryFraming, 2));
  EXPECT(kTvmErrorWriteStreamLongWrite == DEFINE_TVM_CRT_ERROR(kTvmErrorCategoryWriteStream, 1));
  EXPECT(kTvmErrorSessionInvalidState == DEFINE_TVM_CRT_ERROR(kTvmErrorCategorySession, 0));
  EXPECT(kTvmErrorPlatformNoMemory == DEFINE_TVM_CRT_ERROR(kTvmErrorCategoryPlatform, 3));
  EXPECT(kTvmErrorGeneratedInvalidStorageId ==
         DEFINE_TVM_CRT_ERROR(kTvmErrorCategoryGenerated, 0));
  EXPECT(kTvmErrorExecutorModuleNoSuchInput ==
         DEFINE_TVM_CRT_ERROR(kTvmErrorCategoryExecutor, 2));
  EXPECT(kTvmErrorFunctionCallInvalidArg ==
         DEFINE_TVM_CRT_ERROR(kTvmErrorCategoryFunctionCall, 3));
  EXPECT(kTvmErrorTimeEvaluatorBadHandle ==
         DEFINE_TVM_CRT_ERROR(kTvmErrorCategoryTimeEvaluator, 0));
}

static void without_a_platform_there_is_no_memory(void) {
  EXPECT(strcmp(TVMGetLastError(), "") == 0);
  EXPECT(TVMBackendAllocWorkspace(kDLCPU, 0, 16, 2, 32) == NULL);
  EXPECT(strstr(TVMGetLastError(), "not enough memory") != NULL);
  EXPECT(TVMBackendFreeWorkspace(kDLCPU, 0, NULL) == kTvmErrorPlatformStackAllocBadFree);
  TVMAPISetLastError(NULL);
  EXPECT(strcmp(TVMGetLastError(), "") == 0);
}

static void a_message_is_copied_and_cut_short(void) {
  char text[3000];
  (void)strcpy(text, "operator 3 failed");
  TVMAPISetLastError(text);
  memset(text, 'x', sizeof(text));
  EXPECT(strcmp(TVMGetLastError(), "operator 3 failed") == 0);
  text[1023] = '\0';
  TVMAPISetLastError(text);
  EXPECT(strcmp(TVMGetLastError(), text) == 0);
  text[1023] = 'x';
  TVMAPISetLastError(text); /* It has no end. */
  EXPECT(strlen(TVMGetLastError()) == 1023u && strncmp(TVMGetLastError(), text, 1023u) == 0);
  TVMAPISetLastError("a and b");
  TVMAPISetLastError(TVMGetLastError());
  EXPECT(strcmp(TVMGetLastError(), "a and b") == 0);
  TVMAPISetLastError(TVMGetLastError() + 2);
  EXPECT(strcmp(TVMGetLastError(), "and b") == 0);
  TVMAPISetLastError("");
  EXPECT(strcmp(TVMGetLastError(), "") == 0);
}

static void the_harmless_hooks_have_defaults(void) {
  EXPECT(TVMPlatformInitialize() == kTvmErrorNoError);
  EXPECT(TVMPlatformBeforeMeasurement() == kTvmErrorNoError);
  EXPECT(TVMPlatformAfterMeasurement() == kTvmErrorNoError);
  LOG_ERROR("nobody listens to %d\n", 1);
}

static int count_tasks(int task_id, TVMParallelGroupEnv* env, void* data) {
  EXPECT(task_id == 0 && env->num_task == 1);
  EXPECT(TVMBackendParallelBarrier(task_id, env) == 0);
  ++*(int*)data;
  return 7;
}

static void parallel_work_is_one_task(void) {
  int tasks = 0;
  EXPECT(TVMBackendParallelLaunch(count_tasks, &tasks, 4) == 7);
  EXPECT(tasks == 1);
}

int main(void) {
  layouts_are_those_of_the_interface();
  error_codes_are_category_and_number();
  without_a_platform_there_is_no_memory();
  a_message_is_copied_and_cut_short();
  the_harmless_hooks_have_defaults();
  parallel_work_is_one_task();
  return 0;
}
