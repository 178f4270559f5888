// SPDX-License-Identifier: Apache-2.0
package io.kiln.spi;

import java.util.List;
import java.util.Optional;

/** Operators of a model that fit a pattern, in order. */
public interface OperatorChain {
    /**
     * All of them; each but the first reads the one before it.
     *
     * @return at least one
     */
    List<Operator> operators();

    /**
     * The tensors that it reads from outside, each once; constants are none of them.
     *
     * @return in the order of the function's parameters
     */
    List<Tensor> inputs();

    /**
     * The tensor that it computes.
     *
     * @return the last operator's result
     */
    default Tensor output() {
        return operators().get(operators().size() - 1).result();
    }

    /**
     * The first operator of a name.
     *
     * @param operator a Relay name
     * @return empty if there is none
     */
    default Optional<Operator> find(String operator) {
        return operators().stream().filter(each -> each.name().equals(operator)).findFirst();
    }

    /**
     * How its sums become elements of the output.
     *
     * @return empty if no operator rescales
     */
    default Optional<Rescaling> rescaling() {
        return operators().stream().flatMap(each -> each.rescaling().stream()).findFirst();
    }
}
