/* SPDX-License-Identifier: Apache-2.0
 *
 * A table of functions by name, as C that TVM generated with a system library declares one. Kiln's runtime looks nothing up in it.
 */
#ifndef TVM_RUNTIME_CRT_MODULE_H_
#define TVM_RUNTIME_CRT_MODULE_H_

#include <tvm/runtime/c_backend_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Functions and their names: how many (16 bits, little endian), each name with its terminating zero, one more zero. */
typedef struct TVMFuncRegistry {
  const char* names;
  const TVMBackendPackedCFunc* funcs;
} TVMFuncRegistry;

/* What generated code exports. */
typedef struct TVMModule {
  const TVMFuncRegistry* registry;
} TVMModule;

/* The only module of a firmware; defined by generated code. */
const TVMModule* TVMSystemLibEntryPoint(void);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_MODULE_H_ */
