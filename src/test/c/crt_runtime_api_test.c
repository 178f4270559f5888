/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions by name and handle, modules and packed functions.
 */
#include "crt_functions.h"

/* As a host sees them. */
static void handles_are_those_of_microtvm(void) {
  start();
  TVMFunctionHandle function = NULL;
  EXPECT(number(global("runtime.SystemLib")) == 0x80028000u);
  EXPECT(number(global("tvm.rpc.server.ModuleGetFunction")) == 0x80028001u);
  EXPECT(number(get_system_lib()) == 0x8000u && number(get_system_lib()) == 0x8000u);
  EXPECT(TVMModGetFunction(get_system_lib(), "fail", 0, &function) == 0);
  EXPECT(number(function) == 0x80008001u);
  EXPECT(global("no.such.function") == NULL);
}

static void functions_return_nothing_a_value_or_an_error(void) {
  start();
  TVMValue args[3];
  int tcodes[3] = {kTVMArgInt, kTVMArgInt, kTVMArgInt};
  TVMValue ret;
  int tcode = 77;
  TVMFunctionHandle function = NULL;
  EXPECT(TVMModGetFunction(get_system_lib(), "sum", 0, &function) == 0);
  for (int i = 0; i < 3; ++i) {
    args[i].v_int64 = 5 * i - 7;
  }
  ret.v_handle = args;
  EXPECT(TVMFuncCall(function, args, tcodes, 0, &ret, &tcode) == 0);
  EXPECT(tcode == kTVMNullptr && ret.v_handle == NULL);
  EXPECT(TVMFuncCall(function, args, tcodes, 3, &ret, &tcode) == 0);
  EXPECT(tcode == kTVMArgInt && ret.v_int64 == -6);
  EXPECT(TVMModGetFunction(get_system_lib(), "fail", 0, &function) == 0);
  EXPECT(TVMFuncCall(function, args, tcodes, 3, &ret, &tcode) == -1);
  EXPECT(strcmp(TVMGetLastError(), "it went wrong") == 0 && tcode == kTVMNullptr);
  EXPECT(TVMFuncFree(function) == 0);
}

static void handles_that_are_none_are_refused(void) {
  static const uintptr_t bad[] = {0,          0x8000,     0x80008002, 0x80018000, 0x80038000, 0x8002ffff,
                                  0x80020000, 0x00028000, 0xffffffff, 0x7fff8000, 0x80028002};
  TVMValue ret;
  int tcode = 0;
  TVMFunctionHandle function = &ret;
  start();
  (void)get_system_lib();
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
    int expected = bad[i] == 0xffffffff ? (int)kTvmErrorTimeEvaluatorBadHandle : (int)kTvmErrorFunctionIndexInvalid;
    EXPECT(TVMFuncCall((TVMFunctionHandle)bad[i], NULL, NULL, 0, &ret, &tcode) == expected);
    EXPECT(tcode == kTVMNullptr);
  }
#if UINTPTR_MAX > UINT32_MAX
  EXPECT(TVMFuncCall((TVMFunctionHandle)0x180028000u, NULL, NULL, 0, &ret, &tcode) == kTvmErrorFunctionIndexInvalid);
#endif
  EXPECT(TVMModGetFunction((TVMModuleHandle)(uintptr_t)0x8001u, "sum", 0, &function) == kTvmErrorFunctionIndexInvalid);
  EXPECT(function == NULL);
  EXPECT(TVMModGetFunction(NULL, "sum", 0, &function) == kTvmErrorFunctionIndexInvalid);
  EXPECT(TVMModGetFunction(get_system_lib(), "su", 0, &function) == kTvmErrorFunctionNameNotFound);
  EXPECT(TVMModFree((TVMModuleHandle)(uintptr_t)0x8001u) == kTvmErrorFunctionIndexInvalid);
}

static void modules_have_slots(void) {
  TVMModuleHandle handle = NULL;
  start();
  TVMModuleHandle system = get_system_lib();
  EXPECT(TVMModCreateFromCModule(&library, &handle) == 0 && number(handle) == 0x8001u);
  EXPECT(TVMCrt_ModuleOf(handle) == &library);
  EXPECT(TVMModCreateFromCModule(&library, &handle) == kTvmErrorFunctionRegistryFull && handle == NULL);
  EXPECT(TVMModFree((TVMModuleHandle)(uintptr_t)0x8001u) == 0);
  EXPECT(TVMCrt_ModuleOf((TVMModuleHandle)(uintptr_t)0x8001u) == NULL);
  EXPECT(TVMModFree(system) == 0 && TVMCrt_ModuleOf(system) == &library);
  EXPECT(TVMModCreateFromCModule(&library, &handle) == 0 && number(handle) == 0x8001u);
}

/* What a host calls to look up functions of a module: Null if there is none, and an error for other arguments. */
static void a_host_looks_functions_up(void) {
  TVMValue args[3];
  int tcodes[3] = {kTVMModuleHandle, kTVMStr, kTVMArgInt};
  TVMValue ret;
  int tcode = 0;
  start();
  TVMFunctionHandle get = global("tvm.rpc.server.ModuleGetFunction");
  args[0].v_handle = get_system_lib();
  args[1].v_str = "sum";
  args[2].v_int64 = 0;
  EXPECT(TVMFuncCall(get, args, tcodes, 3, &ret, &tcode) == 0);
  EXPECT(tcode == kTVMPackedFuncHandle && number(ret.v_handle) == 0x80008000u);
  args[1].v_str = "no such";
  EXPECT(TVMFuncCall(get, args, tcodes, 3, &ret, &tcode) == 0 && tcode == kTVMNullptr && ret.v_handle == NULL);
  args[1].v_str = "sum";
  tcodes[2] = kTVMArgBool;
  EXPECT(TVMFuncCall(get, args, tcodes, 3, &ret, &tcode) == 0);
  EXPECT(tcode == kTVMPackedFuncHandle && number(ret.v_handle) == 0x80008000u);
  EXPECT(TVMFuncCall(get, args, tcodes, 2, &ret, &tcode) == kTvmErrorFunctionCallNumArguments && tcode == kTVMNullptr);
  EXPECT(strcmp(TVMGetLastError(), "ModuleGetFunction: expected 3 arguments") == 0);
  for (int i = 0; i < 3; ++i) {
    tcodes[i] += 1;
    EXPECT(TVMFuncCall(get, args, tcodes, 3, &ret, &tcode) == kTvmErrorFunctionCallWrongArgType && tcode == kTVMNullptr);
    EXPECT(strstr(TVMGetLastError(), "an integer or bool") != NULL);
    tcodes[i] -= 1;
  }
}

static void globals_are_registered_and_replaced(void) {
  TVMFunctionHandle f = (TVMFunctionHandle)(uintptr_t)sum;
  TVMFunctionHandle found = NULL;
  start();
  EXPECT(TVMFuncRegisterGlobal("mine", f, 0) == 0 && number(global("mine")) == 0x80028002u);
  EXPECT(TVMFuncRegisterGlobal("mine", f, 0) == kTvmErrorFunctionAlreadyDefined);
  EXPECT(TVMFuncRegisterGlobal("mine", f, 1) == 0);
  EXPECT(TVMBackendRegisterSystemLibSymbol("symbol", f) == 0);
  EXPECT(TVMBackendGetFuncFromEnv(NULL, "symbol", &found) == 0 && found == global("symbol"));
  EXPECT(TVMBackendGetFuncFromEnv(get_system_lib(), "sum", &found) == 0 && number(found) == 0x80008000u);
  EXPECT(TVMBackendGetFuncFromEnv(get_system_lib(), "symbol", &found) == 0 && found == global("symbol"));
  EXPECT(TVMBackendGetFuncFromEnv(get_system_lib(), "none", &found) == kTvmErrorFunctionNameNotFound);
  EXPECT(TVMBackendRegisterEnvCAPI("c", NULL) == 0);
}

/* 512 bytes with 8 for each of 26 functions, 2 for their number, and the names of the runtime's own. */
static void names_of_globals_fill_their_table(void) {
  TVMFunctionHandle f = (TVMFunctionHandle)(uintptr_t)sum;
  char name[] = "function0A";
  int fitting = 0;
  start();
  for (; TVMFuncRegisterGlobal(name, f, 0) == 0; ++fitting) {
    ++name[9];
  }
  size_t left = 512 - 26 * sizeof(f) - 2 - sizeof("runtime.SystemLib") - sizeof("tvm.rpc.server.ModuleGetFunction");
  EXPECT(sizeof(f) != 8u || fitting == (int)(left / sizeof(name)));
  EXPECT(TVMFuncRegisterGlobal(name, f, 0) == kTvmErrorFunctionRegistryFull);
}

static void the_start_fails_cleanly(void) {
  platform_reset();
  platform_fail_after(0);
  EXPECT(TVMInitializeRuntime() == kTvmErrorPlatformNoMemory);
  EXPECT(platform_blocks() == 0);
  EXPECT(global("runtime.SystemLib") == NULL);
  EXPECT(TVMFuncRegisterGlobal("mine", NULL, 0) == kTvmErrorFunctionRegistryFull);
}

static int once_calls;

static int once(void* data) {
  ++once_calls;
  return *(int*)data;
}

static void code_runs_once(void) {
  void* handle = NULL;
  int result = 3;
  EXPECT(TVMBackendRunOnce(&handle, once, &result, sizeof(result)) == 3 && handle == NULL);
  result = 0;
  EXPECT(TVMBackendRunOnce(&handle, once, &result, sizeof(result)) == 0 && handle != NULL);
  EXPECT(TVMBackendRunOnce(&handle, once, &result, sizeof(result)) == 0 && once_calls == 2);
}

static void results_go_where_the_caller_wants(void) {
  TVMValue values[2];
  int tcodes[2] = {kTVMArgInt, kTVMStr};
  TVMValue stored[2];
  int stored_tcodes[2] = {0, 0};
  TVMCReturnValue ret = {stored, stored_tcodes};
  values[0].v_int64 = 42;
  values[1].v_str = "text";
  EXPECT(TVMCFuncSetReturn(&ret, values, tcodes, 2) == 0);
  EXPECT(stored[0].v_int64 == 42 && stored[1].v_str == values[1].v_str && stored_tcodes[1] == kTVMStr);
}

static void is_type(const char* text, unsigned code, unsigned bits, unsigned lanes) {
  DLDataType type = String2DLDataType(text);
  EXPECT(type.code == code && type.bits == bits && type.lanes == lanes);
}

static void element_types_are_read(void) {
  is_type("int8", kDLInt, 8, 1);
  is_type("uint8", kDLUInt, 8, 1);
  is_type("float32", kDLFloat, 32, 1);
  is_type("float64", kDLFloat, 64, 1);
  is_type("int", kDLInt, 32, 1);
  is_type("int32x4", kDLInt, 32, 4);
  is_type("float16x65535", kDLFloat, 16, 65535);
  is_type("bfloat16", kDLBfloat, 16, 1);
  is_type("bool", kDLUInt, 1, 1);
  is_type("boolx8", kDLUInt, 1, 8);
  is_type("handle", kDLOpaqueHandle, 64, 1);
  is_type("", kDLOpaqueHandle, 0, 0);
  is_type("int8 ", kDLOpaqueHandle, 0, 0);
  is_type("int0", kDLOpaqueHandle, 0, 0);
  is_type("int256", kDLOpaqueHandle, 0, 0);
  is_type("int8x", kDLOpaqueHandle, 0, 0);
  is_type("int8x65536", kDLOpaqueHandle, 0, 0);
  is_type("int99999999999999999999", kDLOpaqueHandle, 0, 0);
  is_type("short", kDLOpaqueHandle, 0, 0);
}

static void packed_functions_are_bound_to_arguments(void) {
  TVMValue values[TVM_CRT_MAX_ARGS];
  uint32_t tcodes[TVM_CRT_MAX_ARGS + 1] = {kTVMArgInt, kTVMArgInt};
  TVMPackedFunc function;
  memset(values, 0, sizeof(values));
  values[0].v_int64 = 30;
  values[1].v_int64 = 12;
  start();
  TVMArgs args = TVMArgs_Create(values, tcodes, 2);
  EXPECT(TVMPackedFunc_InitModuleFunc(&function, get_system_lib(), "sum", &args) == 0);
  EXPECT(strcmp(function.name, "sum") == 0 && function.args.values_count == 2u);
  EXPECT(function.Call(&function) == 0);
  EXPECT(function.ret_value.values_count == 1u && function.ret_value.tcodes[0] == kTVMArgInt);
  EXPECT(function.ret_value.values[0].v_int64 == 42);
  args = TVMArgs_Create(values, tcodes, 1);
  function.SetArgs(&function, &args);
  EXPECT(TVMPackedFunc_Call(&function) == 0 && function.ret_value.values[0].v_int64 == 30);
  args = TVMArgs_Create(values, tcodes, 0);
  EXPECT(TVMPackedFunc_InitGlobalFunc(&function, "runtime.SystemLib", &args) == 0 && function.Call(&function) == 0);
  EXPECT(TVMArgs_AsModuleHandle(&function.ret_value, 0) == get_system_lib());
  EXPECT(TVMPackedFunc_InitGlobalFunc(&function, "none", &args) == kTvmErrorFunctionNameNotFound);
  EXPECT(TVMPackedFunc_InitModuleFunc(&function, get_system_lib(), "none", &args) == kTvmErrorFunctionNameNotFound);
  EXPECT_ABORT((void)TVMArgs_AsModuleHandle(&function.ret_value, 1));
  EXPECT_ABORT((void)TVMArgs_AsModuleHandle(&args, 0));
  EXPECT_ABORT((void)TVMArgs_Create(values, tcodes, TVM_CRT_MAX_ARGS + 1));
}

static void what_must_not_be_stops_the_platform(void) {
  void* block = NULL;
  platform_reset();
  EXPECT(TVMPlatformMemoryAllocate(200, cpu, &block) == kTvmErrorNoError);
  EXPECT_ABORT((void)TVMPlatformMemoryFree((uint8_t*)block + 64, cpu));
  EXPECT_ABORT((void)TVMPlatformMemoryFree((uint8_t*)block + 1, cpu));
  EXPECT_ABORT((void)TVMPlatformMemoryFree(&block, cpu));
  EXPECT_ABORT((void)TVMPlatformMemoryFree(NULL, cpu));
  EXPECT(TVMPlatformMemoryFree(block, cpu) == kTvmErrorNoError);
  EXPECT_ABORT((void)TVMPlatformMemoryFree(block, cpu));
  CHECK_EQ(1 + 1, 2, "sums");
  CHECK_NE(1, 2, "%d", 1);
  CHECK_LT(1, 2, "%d", 1);
  CHECK_LE(2, 2, "%d", 1);
  CHECK_GT(2, 1, "%d", 1);
  CHECK_GE(2, 2, "%d", 1);
  EXPECT_ABORT(CHECK_EQ(1, 2, "cannot find '%s'", "it"));
  EXPECT_ABORT(CHECK_NE(2, 2, "%d", 1));
  EXPECT_ABORT(CHECK_LT(2, 2, "%d", 1));
  EXPECT_ABORT(CHECK_LE(3, 2, "%d", 1));
  EXPECT_ABORT(CHECK_GT(2, 2, "%d", 1));
  EXPECT_ABORT(CHECK_GE(1, 2, "%d", 1));
  EXPECT_ABORT(CHECK(0));
}

int main(void) {
  handles_are_those_of_microtvm();
  functions_return_nothing_a_value_or_an_error();
  handles_that_are_none_are_refused();
  modules_have_slots();
  a_host_looks_functions_up();
  globals_are_registered_and_replaced();
  names_of_globals_fill_their_table();
  the_start_fails_cleanly();
  code_runs_once();
  results_go_where_the_caller_wants();
  element_types_are_read();
  packed_functions_are_bound_to_arguments();
  what_must_not_be_stops_the_platform();
  return 0;
}
