/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <tvm/runtime/crt/func_registry.h>
#include <tvm/runtime/crt/internal/common/func_registry.h>

int strcmp_cursor(const char** cursor, const char* name) {
  const char* c = *cursor;
  while (*c != '\0' && *c == *name) {
    ++c;
    ++name;
  }
  int difference = (int)(unsigned char)*c - (int)(unsigned char)*name;
  *cursor = c + strlen(c);
  return difference;
}

uint16_t TVMFuncRegistry_GetNumFuncs(const TVMFuncRegistry* reg) {
  uint16_t num_funcs = 0;
  memcpy(&num_funcs, reg->names, sizeof(num_funcs));
  return num_funcs;
}

int TVMFuncRegistry_SetNumFuncs(const TVMFuncRegistry* reg, const uint16_t num_funcs) {
  memcpy((char*)(uintptr_t)reg->names, &num_funcs, sizeof(num_funcs));
  return 0;
}

const char* TVMFuncRegistry_Get0thFunctionName(const TVMFuncRegistry* reg) {
  return reg->names + sizeof(uint16_t);
}

/* The index of a name, or the number of functions. *end is where the names end if it is not there. */
static uint16_t find(const TVMFuncRegistry* reg, const char* name, const char** end) {
  uint16_t num_funcs = TVMFuncRegistry_GetNumFuncs(reg);
  const char* cursor = TVMFuncRegistry_Get0thFunctionName(reg);
  for (uint16_t i = 0; i < num_funcs; ++i) {
    if (strcmp_cursor(&cursor, name) == 0) {
      return i;
    }
    ++cursor;
  }
  *end = cursor;
  return num_funcs;
}

tvm_crt_error_t TVMFuncRegistry_Lookup(const TVMFuncRegistry* reg, const char* name,
                                       tvm_function_index_t* function_index) {
  const char* end = NULL;
  uint16_t index = find(reg, name, &end);
  if (end != NULL) {
    return kTvmErrorFunctionNameNotFound;
  }
  *function_index = index;
  return kTvmErrorNoError;
}

/* Where a function lies. Those in a buffer need not be aligned. */
static uint8_t* function_at(const TVMFuncRegistry* reg, size_t index) {
  return (uint8_t*)(uintptr_t)reg->funcs + index * sizeof(TVMBackendPackedCFunc);
}

tvm_crt_error_t TVMFuncRegistry_GetByIndex(const TVMFuncRegistry* reg, tvm_function_index_t index,
                                           TVMBackendPackedCFunc* out_func) {
  if (index >= TVMFuncRegistry_GetNumFuncs(reg)) {
    return kTvmErrorFunctionIndexInvalid;
  }
  memcpy(out_func, function_at(reg, index), sizeof(*out_func));
  return kTvmErrorNoError;
}

tvm_crt_error_t TVMMutableFuncRegistry_Create(TVMMutableFuncRegistry* reg, uint8_t* buffer,
                                              size_t buffer_size_bytes) {
  if (buffer_size_bytes < kTvmAverageFuncEntrySizeBytes) {
    return kTvmErrorBufferTooSmall;
  }
  memset(buffer, 0, sizeof(uint16_t) + 1u);
  reg->max_functions = buffer_size_bytes / kTvmAverageFuncEntrySizeBytes;
  uint8_t* functions = buffer + buffer_size_bytes - reg->max_functions * sizeof(TVMBackendPackedCFunc);
  reg->registry.names = (const char*)buffer;
  reg->registry.funcs = (const TVMBackendPackedCFunc*)(uintptr_t)functions;
  return kTvmErrorNoError;
}

tvm_crt_error_t TVMMutableFuncRegistry_Set(TVMMutableFuncRegistry* reg, const char* name,
                                           TVMBackendPackedCFunc func, int override) {
  const char* names_end = NULL;
  uint16_t index = find(&reg->registry, name, &names_end);
  if (names_end == NULL) {
    if (!override) {
      return kTvmErrorFunctionAlreadyDefined;
    }
  } else {
    size_t left = (uintptr_t)reg->registry.funcs - (uintptr_t)names_end;
    size_t size = strlen(name) + 1u;
    if (index >= reg->max_functions || index == UINT16_MAX || size > left) {
      return kTvmErrorFunctionRegistryFull;
    }
    char* target = (char*)(uintptr_t)names_end;
    memcpy(target, name, size);
    /* The zero behind the last name is for people; there may be no room for it. */
    if (size < left) {
      target[size] = '\0';
    }
    (void)TVMFuncRegistry_SetNumFuncs(&reg->registry, (uint16_t)(index + 1u));
  }
  memcpy(function_at(&reg->registry, index), &func, sizeof(func));
  return kTvmErrorNoError;
}
