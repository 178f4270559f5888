/* SPDX-License-Identifier: Apache-2.0
 *
 * The start of the runtime: its table of global functions and its table of modules. What calls functions by name needs it; generated code
 * that is called directly does not.
 */
#ifndef TVM_RUNTIME_CRT_CRT_H_
#define TVM_RUNTIME_CRT_CRT_H_

#include <tvm/runtime/crt/error_codes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES from TVMPlatformMemoryAllocate, forgets all modules, and registers the global functions
 * "runtime.SystemLib" and "tvm.rpc.server.ModuleGetFunction", then those of an RPC server if the image has one
 * (tvm/runtime/crt/internal/common/rpc_hooks.h).
 *
 * Returns kTvmErrorNoError, or the code of what failed, with no memory taken. A second call takes memory anew
 * and drops what was registered since the first. */
tvm_crt_error_t TVMInitializeRuntime(void);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_CRT_H_ */
