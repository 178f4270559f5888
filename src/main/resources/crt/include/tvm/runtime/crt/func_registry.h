/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of functions by name: constant ones, which generated code declares, and those that grow in a buffer.
 *
 * A table's names are one run of bytes: how many (16 bits in the core's byte order, unaligned), each name with its terminating zero, one
 * more zero. Function i belongs to name i.
 */
#ifndef TVM_RUNTIME_CRT_FUNC_REGISTRY_H_
#define TVM_RUNTIME_CRT_FUNC_REGISTRY_H_

#include <stddef.h>
#include <stdint.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/crt/error_codes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Index of a function in its table, and of a module in the runtime's. */
typedef uint16_t tvm_function_index_t;
typedef uint16_t tvm_module_index_t;

typedef struct TVMFuncRegistry {
  const char* names;
  const TVMBackendPackedCFunc* funcs;
} TVMFuncRegistry;

uint16_t TVMFuncRegistry_GetNumFuncs(const TVMFuncRegistry* reg);

/* Writes the number of functions into the names, which must not be constant. Returns 0. */
int TVMFuncRegistry_SetNumFuncs(const TVMFuncRegistry* reg, const uint16_t num_funcs);

/* The first name, which lies behind the number of functions. */
const char* TVMFuncRegistry_Get0thFunctionName(const TVMFuncRegistry* reg);

/* Finds a function by its name. kTvmErrorFunctionNameNotFound leaves *function_index alone. */
tvm_crt_error_t TVMFuncRegistry_Lookup(const TVMFuncRegistry* reg, const char* name,
                                       tvm_function_index_t* function_index);

/* Fetches a function. kTvmErrorFunctionIndexInvalid leaves *out_func alone. */
tvm_crt_error_t TVMFuncRegistry_GetByIndex(const TVMFuncRegistry* reg, tvm_function_index_t index,
                                           TVMBackendPackedCFunc* out_func);

/* A table in a buffer: names from its start, functions at its end. */
typedef struct TVMMutableFuncRegistry {
  TVMFuncRegistry registry;
  size_t max_functions;
} TVMMutableFuncRegistry;

/* A buffer holds as many functions as it holds entries whose names have this many characters. */
#define TVM_AVERAGE_FUNCTION_NAME_STRLEN_BYTES 10

static const size_t kTvmAverageFunctionNameStrlenBytes = TVM_AVERAGE_FUNCTION_NAME_STRLEN_BYTES;
static const size_t kTvmAverageFuncEntrySizeBytes =
    TVM_AVERAGE_FUNCTION_NAME_STRLEN_BYTES + 1 + sizeof(void*);

/* Makes an empty table of a buffer, which need not be aligned. kTvmErrorBufferTooSmall if it is smaller than one average entry. */
tvm_crt_error_t TVMMutableFuncRegistry_Create(TVMMutableFuncRegistry* reg, uint8_t* buffer,
                                              size_t buffer_size_bytes);

/* Adds a function, or replaces the one of this name where override is not 0.
 *
 * kTvmErrorFunctionAlreadyDefined if the name is there and override is 0; kTvmErrorFunctionRegistryFull if there is no room for the name
 * or the function. Nothing has changed then. */
tvm_crt_error_t TVMMutableFuncRegistry_Set(TVMMutableFuncRegistry* reg, const char* name,
                                           TVMBackendPackedCFunc func, int override);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_FUNC_REGISTRY_H_ */
