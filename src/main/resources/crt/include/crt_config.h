/* SPDX-License-Identifier: Apache-2.0
 *
 * What a firmware may change of the C runtime. Give another value with -D, or put a crt_config.h of your own, or microTVM's, earlier in
 * the include path: src/main/c or src/main/c/include will do.
 */
#ifndef CRT_CONFIG_H_
#define CRT_CONFIG_H_

/* How much TVMLogf is asked to say: 0 errors, 1 warnings, 2 information, 3 everything (see tvm/runtime/crt/logging.h). */
#ifndef TVM_CRT_LOG_LEVEL
#define TVM_CRT_LOG_LEVEL 0
#endif

/* Alignment of every workspace in bytes, a power of two. */
#ifndef TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES
#define TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES 16
#endif

/* Define TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK to have the stack allocator notice blocks that are freed out of order, at
 * 4 more bytes a block. */

/* Room for the message of TVMGetLastError, with its terminating zero. */
#ifndef TVM_CRT_LAST_ERROR_SIZE_BYTES
#define TVM_CRT_LAST_ERROR_SIZE_BYTES 1024
#endif

/* Whether checks for debugging are compiled in. */
#ifndef TVM_CRT_DEBUG
#define TVM_CRT_DEBUG 0
#endif

/* Dimensions of a tensor, at most. */
#ifndef TVM_CRT_MAX_NDIM
#define TVM_CRT_MAX_NDIM 6
#endif

/* Arguments of a function with the packed calling convention, at most. */
#ifndef TVM_CRT_MAX_ARGS
#define TVM_CRT_MAX_ARGS 10
#endif

/* Bytes of the table of global functions: each takes its name, a zero and a pointer. */
#ifndef TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES
#define TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES 512
#endif

/* Modules that are registered at a time, the system library among them. */
#ifndef TVM_CRT_MAX_REGISTERED_MODULES
#define TVM_CRT_MAX_REGISTERED_MODULES 2
#endif

/* Bytes of a packet on a serial line. */
#ifndef TVM_CRT_MAX_PACKET_SIZE_BYTES
#define TVM_CRT_MAX_PACKET_SIZE_BYTES 2048
#endif

/* Names of element types, functions and parameters, each with its terminating zero. */
#ifndef TVM_CRT_MAX_STRLEN_DLTYPE
#define TVM_CRT_MAX_STRLEN_DLTYPE 10
#endif

#ifndef TVM_CRT_MAX_STRLEN_FUNCTION_NAME
#define TVM_CRT_MAX_STRLEN_FUNCTION_NAME 120
#endif

#ifndef TVM_CRT_MAX_STRLEN_PARAM_NAME
#define TVM_CRT_MAX_STRLEN_PARAM_NAME 80
#endif

#endif /* CRT_CONFIG_H_ */
