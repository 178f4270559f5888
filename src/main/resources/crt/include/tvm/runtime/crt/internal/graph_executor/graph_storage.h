/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of a graph executor's tensors.
 */
#ifndef TVM_RUNTIME_CRT_INTERNAL_GRAPH_EXECUTOR_GRAPH_STORAGE_H_
#define TVM_RUNTIME_CRT_INTERNAL_GRAPH_EXECUTOR_GRAPH_STORAGE_H_

#include <tvm/runtime/crt/internal/graph_executor/graph_executor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes the memory of all that operators write. */
int TVMGraphStorage_Create(TVMGraphExecutor* executor, TVMModuleHandle module);

/* Has an entry, and its views, lie in memory of the caller's. */
void TVMGraphStorage_Set(TVMGraphExecutor* executor, uint32_t entry, const DLTensor* from);

/* Gives all blocks back, the last one first. */
int TVMGraphStorage_Release(TVMGraphExecutor* executor);

/* The entry that a view shows. */
uint32_t TVMGraphStorage_Viewed(const TVMGraphExecutor* executor, uint32_t node);

/* Bytes of a tensor, whose shape was found to be possible; 0 for any other. */
size_t TVMGraphStorage_Size(const DLTensor* tensor);

/* Whether two tensors have the same element type and the same number of bytes. */
int TVMGraphStorage_IsSame(const DLTensor* a, const DLTensor* b);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_INTERNAL_GRAPH_EXECUTOR_GRAPH_STORAGE_H_ */
