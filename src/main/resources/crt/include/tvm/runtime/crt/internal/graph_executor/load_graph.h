/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading a graph, in two passes: the first one counts, so that one block of memory takes all; the second one fills it in.
 */
#ifndef TVM_RUNTIME_CRT_INTERNAL_GRAPH_EXECUTOR_LOAD_GRAPH_H_
#define TVM_RUNTIME_CRT_INTERNAL_GRAPH_EXECUTOR_LOAD_GRAPH_H_

#include <tvm/runtime/crt/internal/graph_executor/graph_executor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Longest key, kind of node and scope, with the terminating zero. */
#define TVM_GRAPH_KEY_SIZE 20u

typedef struct TVMGraphPass {
  TVMGraphExecutor* executor;
  JSONReader* reader;
  int is_counting;
  uint32_t node;     /* the number of nodes so far */
  uint32_t entry;    /* the number of their outputs */
  uint32_t argument; /* and of their arguments */
  uint32_t shape;    /* extents of all shapes */
  uint32_t input;    /* inputs and parameters */
  uint32_t output;
  uint32_t most_arguments;
} TVMGraphPass;

static inline void TVMGraphPass_FailIf(TVMGraphPass* pass, int is_wrong, const char* error) {
  if (is_wrong) {
    JSONReader_Fail(pass->reader, error);
  }
}

void TVMGraphPass_ReadNodes(TVMGraphPass* pass);

/* What is said of entries; all nodes are known. */
void TVMGraphPass_ReadAttributes(TVMGraphPass* pass);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_INTERNAL_GRAPH_EXECUTOR_LOAD_GRAPH_H_ */
