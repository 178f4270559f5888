// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.kernel;

import java.util.List;

/** Runs the functions that operators call, by index in the caller. */
public interface FunctionCalls {
    /**
     * The results of a function.
     *
     * @param variables values of its variables; updated by the call
     */
    List<Tensor> call(int function, List<Tensor> inputs, List<Tensor> variables);

    /**
     * Called before a loop body runs.
     *
     * @throws io.kiln.base.KilnException if loops have run too often
     */
    void spendIteration(int body);
}
