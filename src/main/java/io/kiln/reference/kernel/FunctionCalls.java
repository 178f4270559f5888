// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.kernel;

import java.util.List;

/** Runs the functions that operators call, by their index in the function that they belong to. */
public interface FunctionCalls {
    /**
     * The results of a function.
     *
     * @param variables values of its variables; changed to what it leaves
     */
    List<Tensor> call(int function, List<Tensor> inputs, List<Tensor> variables);

    /**
     * Before the body of a loop runs.
     *
     * @throws io.kiln.base.KilnException if loops have run more often than is sensible
     */
    void spendIteration(int body);
}
