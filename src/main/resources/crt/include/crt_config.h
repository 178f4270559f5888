/* SPDX-License-Identifier: Apache-2.0
 *
 * What a firmware may change of the C runtime. Give another value with -D, or put a crt_config.h of your own earlier in the include
 * path.
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

#endif /* CRT_CONFIG_H_ */
