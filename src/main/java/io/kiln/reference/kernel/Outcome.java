// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.kernel;

import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * The effects of an operator.
 *
 * @param result its result
 * @param written new values of the variables, in the order of {@link Op#writes}
 */
public record Outcome(Tensor result, List<Tensor> written) {
    public Outcome {
        written = List.copyOf(written);
    }

    /** The outcome of an operator that only changes variables. */
    public static Outcome of(List<Tensor> written) {
        return new Outcome(Tensor.of(TensorType.UNIT, new int[0]), written);
    }
}
