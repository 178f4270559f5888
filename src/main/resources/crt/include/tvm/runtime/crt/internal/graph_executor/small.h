/* SPDX-License-Identifier: Apache-2.0
 *
 * What lies between these two is compiled for size, whatever the rest is compiled for: it runs once, when a graph is read, or does little.
 */
#ifndef TVM_RUNTIME_CRT_INTERNAL_GRAPH_EXECUTOR_SMALL_H_
#define TVM_RUNTIME_CRT_INTERNAL_GRAPH_EXECUTOR_SMALL_H_

#if defined(__clang__)
#define TVM_CRT_SMALL_BEGIN _Pragma("clang attribute push(__attribute__((minsize)), apply_to = function)")
#define TVM_CRT_SMALL_END _Pragma("clang attribute pop")
#elif defined(__GNUC__)
#define TVM_CRT_SMALL_BEGIN _Pragma("GCC push_options") _Pragma("GCC optimize(\"Os\")")
#define TVM_CRT_SMALL_END _Pragma("GCC pop_options")
#else
#define TVM_CRT_SMALL_BEGIN
#define TVM_CRT_SMALL_END
#endif

#endif
