/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions by name and handle: the global ones and those of modules. Their handles are as handles.h says.
 */
#include <crt_config.h>
#include <string.h>
#include <tvm/runtime/crt/crt.h>
#include <tvm/runtime/crt/internal/common/argument_types.h>
#include <tvm/runtime/crt/internal/common/rpc_hooks.h>
#include <tvm/runtime/crt/module.h>
#include <tvm/runtime/crt/platform.h>

/* Fails to compile where the modules do not fit into a handle. */
typedef char modules_fit[TVM_CRT_GLOBAL_MODULE_INDEX < TVM_CRT_TIME_EVALUATOR_MODULE_INDEX ? 1 : -1];

static TVMMutableFuncRegistry global_functions;
static const TVMModule* modules[TVM_CRT_MAX_REGISTERED_MODULES];
static TVMModuleHandle system_lib;

TVM_WEAK tvm_crt_error_t TVMRpcHooks_RegisterGlobals(void) {
  return kTvmErrorNoError;
}

TVM_WEAK int TVMRpcHooks_CallTimeEvaluator(tvm_function_index_t evaluator, TVMValue* arg_values,
                                           int* type_codes, int num_args, TVMValue* ret_val,
                                           int* ret_type_code) {
  (void)evaluator;
  (void)arg_values;
  (void)type_codes;
  (void)num_args;
  (void)ret_val;
  (void)ret_type_code;
  return kTvmErrorTimeEvaluatorBadHandle;
}

/* The table of functions of a module, or NULL if there is no such module. */
static const TVMFuncRegistry* functions_of(tvm_module_index_t module) {
  if (module == TVM_CRT_GLOBAL_MODULE_INDEX && global_functions.registry.names != NULL) {
    return &global_functions.registry;
  }
  return module < TVM_CRT_MAX_REGISTERED_MODULES && modules[module] != NULL ? modules[module]->registry
                                                                            : NULL;
}

/* Reads one half of a handle. Returns 0 if it is none. */
static int index_of(uintptr_t half, uint16_t* index) {
  *index = (uint16_t)(half & 0x7fffu);
  return half <= UINT16_MAX && (half & TVM_CRT_HANDLE_VALID) != 0u;
}

static int get_function(tvm_module_index_t module, const char* name, TVMFunctionHandle* out) {
  tvm_function_index_t function = 0;
  const TVMFuncRegistry* functions = functions_of(module);
  *out = NULL;
  if (functions == NULL) {
    return kTvmErrorFunctionIndexInvalid;
  }
  int error = (int)TVMFuncRegistry_Lookup(functions, name, &function);
  if (error == 0) {
    *out = TVMCrt_FunctionHandle(module, function);
  }
  return error;
}

const TVMModule* TVMCrt_ModuleOf(TVMModuleHandle module) {
  tvm_module_index_t index = 0;
  return index_of((uintptr_t)module, &index) && index < TVM_CRT_MAX_REGISTERED_MODULES ? modules[index]
                                                                                       : NULL;
}

int TVMModCreateFromCModule(const TVMModule* mod, TVMModuleHandle* out_handle) {
  for (tvm_module_index_t i = 0; i < TVM_CRT_MAX_REGISTERED_MODULES; ++i) {
    if (modules[i] == NULL) {
      modules[i] = mod;
      *out_handle = TVMCrt_ModuleHandle(i);
      return 0;
    }
  }
  *out_handle = NULL;
  return kTvmErrorFunctionRegistryFull;
}

int TVMModGetFunction(TVMModuleHandle mod, const char* func_name, int query_imports,
                      TVMFunctionHandle* out) {
  tvm_module_index_t module = 0;
  (void)query_imports;
  *out = NULL;
  return index_of((uintptr_t)mod, &module) ? get_function(module, func_name, out)
                                           : (int)kTvmErrorFunctionIndexInvalid;
}

int TVMModFree(TVMModuleHandle mod) {
  tvm_module_index_t module = 0;
  if (!index_of((uintptr_t)mod, &module) || functions_of(module) == NULL) {
    return kTvmErrorFunctionIndexInvalid;
  }
  if (mod != system_lib && module != TVM_CRT_GLOBAL_MODULE_INDEX) {
    modules[module] = NULL;
  }
  return 0;
}

int TVMFuncRegisterGlobal(const char* name, TVMFunctionHandle f, int override) {
  if (global_functions.registry.names == NULL) {
    return kTvmErrorFunctionRegistryFull;
  }
  return (int)TVMMutableFuncRegistry_Set(&global_functions, name,
                                         (TVMBackendPackedCFunc)(uintptr_t)f, override);
}

int TVMFuncGetGlobal(const char* name, TVMFunctionHandle* out) {
  (void)get_function(TVM_CRT_GLOBAL_MODULE_INDEX, name, out);
  return 0;
}

int TVMFuncCall(TVMFunctionHandle func, TVMValue* arg_values, int* type_codes, int num_args,
                TVMValue* ret_val, int* ret_type_code) {
  tvm_module_index_t module = 0;
  tvm_function_index_t function = 0;
  TVMBackendPackedCFunc target = NULL;
  uintptr_t handle = (uintptr_t)func;
  ret_val->v_handle = NULL;
  *ret_type_code = kTVMNullptr;
  if (!index_of(handle >> 16, &module) || !index_of(handle & UINT16_MAX, &function)) {
    return kTvmErrorFunctionIndexInvalid;
  }
  if (module == TVM_CRT_TIME_EVALUATOR_MODULE_INDEX) {
    return TVMRpcHooks_CallTimeEvaluator(function, arg_values, type_codes, num_args, ret_val,
                                         ret_type_code);
  }
  const TVMFuncRegistry* functions = functions_of(module);
  if (functions == NULL ||
      TVMFuncRegistry_GetByIndex(functions, function, &target) != kTvmErrorNoError) {
    return kTvmErrorFunctionIndexInvalid;
  }
  return target(arg_values, type_codes, num_args, ret_val, ret_type_code, NULL);
}

int TVMFuncFree(TVMFunctionHandle func) {
  (void)func;
  return 0;
}

int TVMCFuncSetReturn(TVMRetValueHandle ret, TVMValue* value, int* type_code, int num_ret) {
  TVMCReturnValue* results = (TVMCReturnValue*)ret;
  for (int i = 0; i < num_ret; ++i) {
    results->ret_val[i] = value[i];
    results->ret_type_code[i] = type_code[i];
  }
  return 0;
}

int TVMBackendGetFuncFromEnv(void* mod_node, const char* func_name, TVMFunctionHandle* out) {
  if (mod_node != NULL && TVMModGetFunction(mod_node, func_name, 1, out) == 0) {
    return 0;
  }
  (void)TVMFuncGetGlobal(func_name, out);
  return *out == NULL ? (int)kTvmErrorFunctionNameNotFound : 0;
}

int TVMBackendRegisterSystemLibSymbol(const char* name, void* ptr) {
  return TVMFuncRegisterGlobal(name, ptr, 0);
}

int TVMBackendRegisterEnvCAPI(const char* name, void* ptr) {
  (void)name;
  (void)ptr;
  return 0;
}

int TVMBackendRunOnce(void** handle, int (*f)(void*), void* cdata, int nbytes) {
  (void)nbytes;
  if (*handle != NULL) {
    return 0;
  }
  int error = f(cdata);
  if (error == 0) {
    *handle = (void*)handle;
  }
  return error;
}

/* runtime.SystemLib() -> Module */
static int get_system_lib(TVMValue* args, int* type_codes, int num_args, TVMValue* ret,
                          int* ret_type_code, void* resource_handle) {
  (void)args;
  (void)type_codes;
  (void)num_args;
  (void)resource_handle;
  if (system_lib == NULL) {
    int error = TVMModCreateFromCModule(TVMSystemLibEntryPoint(), &system_lib);
    if (error != 0) {
      return error;
    }
  }
  ret->v_handle = system_lib;
  *ret_type_code = kTVMModuleHandle;
  return 0;
}

/* tvm.rpc.server.ModuleGetFunction(Module, Str name, Int or Bool query_imports) -> PackedFunc, or Null if there is none */
static int get_function_of_module(TVMValue* args, int* type_codes, int num_args, TVMValue* ret,
                                  int* ret_type_code, void* resource_handle) {
  TVMFunctionHandle function = NULL;
  (void)resource_handle;
  ret->v_handle = NULL;
  *ret_type_code = kTVMNullptr;
  if (num_args != 3) {
    TVMAPISetLastError("ModuleGetFunction: expected 3 arguments");
    return kTvmErrorFunctionCallNumArguments;
  }
  if (type_codes[0] != kTVMModuleHandle || type_codes[1] != kTVMStr || !TVMCrt_IsInteger(type_codes[2])) {
    TVMAPISetLastError("ModuleGetFunction: expected a module, a string, and an integer or bool");
    return kTvmErrorFunctionCallWrongArgType;
  }
  if (TVMModGetFunction(args[0].v_handle, args[1].v_str, (int)args[2].v_int64, &function) == 0) {
    ret->v_handle = function;
    *ret_type_code = kTVMPackedFuncHandle;
  }
  return 0;
}

static tvm_crt_error_t register_globals(void) {
  tvm_crt_error_t error =
      TVMMutableFuncRegistry_Set(&global_functions, "runtime.SystemLib", get_system_lib, 0);
  if (error == kTvmErrorNoError) {
    error = TVMMutableFuncRegistry_Set(&global_functions, "tvm.rpc.server.ModuleGetFunction",
                                       get_function_of_module, 0);
  }
  return error == kTvmErrorNoError ? TVMRpcHooks_RegisterGlobals() : error;
}

tvm_crt_error_t TVMInitializeRuntime(void) {
  DLDevice cpu = {kDLCPU, 0};
  void* buffer = NULL;
  memset(&global_functions, 0, sizeof(global_functions));
  memset(modules, 0, sizeof(modules));
  system_lib = NULL;
  tvm_crt_error_t error =
      TVMPlatformMemoryAllocate(TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES, cpu, &buffer);
  if (error != kTvmErrorNoError) {
    return error;
  }
  error = TVMMutableFuncRegistry_Create(&global_functions, (uint8_t*)buffer,
                                        TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES);
  if (error == kTvmErrorNoError) {
    error = register_globals();
  }
  if (error != kTvmErrorNoError) {
    memset(&global_functions, 0, sizeof(global_functions));
    (void)TVMPlatformMemoryFree(buffer, cpu);
  }
  return error;
}
