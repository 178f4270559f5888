// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

/** A graph with everything that graphs may have. */
final class GraphSeeds {
    /** An input, a parameter, an operator with two outputs, and a view of one of them. */
    static final String JSON = """
            {
              "nodes": [
                {"op": "null", "name": "x", "inputs": []},
                {"op": "null", "name": "p0", "inputs": []},
                {"op": "tvm_op", "name": "f", "inputs": [[0, 0, 0], [1, 0, 0]],
                 "attrs": {"func_name": "f", "num_inputs": "2", "num_outputs": "2", "flatten_data": "0"}},
                {"op": "tvm_op", "name": "reshape_nop", "inputs": [[2, 1, 0]],
                 "attrs": {"func_name": "__nop", "num_inputs": "1", "num_outputs": "1", "flatten_data": "0"}}
              ],
              "arg_nodes": [0, 1],
              "heads": [[2, 0, 0], [3, 0, 0]],
              "attrs": {
                "dltype": ["list_str", ["int8", "int32", "int8", "float32", "float32"]],
                "storage_id": ["list_int", [0, 1, 2, 3, 3]],
                "shape": ["list_shape", [[1, 4], [], [1, 4], [2, 3], [6]]]
              },
              "node_row_ptr": [0, 1, 2, 4, 5]
            }
            """;

    private GraphSeeds() {}
}
