// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.tir.PrimFunc;
import java.util.List;

/**
 * A function that an operator calls, lowered as a whole. It takes pointers to its inputs, results and variables, then to its
 * workspace if it needs one, then to the contexts of devices.
 *
 * @param function its entry
 * @param workspaceBytes bytes that it needs of the caller's scratch
 * @param functions all of its functions, in the order of the file, the entry last
 * @param operators the operators among these
 */
public record Callee(
        PrimFunc function, long workspaceBytes, List<PrimFunc> functions, List<LoweredOperator> operators) {
    public Callee {
        operators = List.copyOf(operators);
        functions = List.copyOf(functions);
    }
}
