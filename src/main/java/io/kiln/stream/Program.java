// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.ir.Function;
import io.kiln.lower.LoweredOperator;
import java.util.List;
import java.util.Map;

/**
 * The order of execution and the lifetimes of values.
 *
 * @param function the fused function
 * @param operators in the order of the function
 * @param steps in order
 * @param values values that need memory: inputs, outputs, then intermediate values in the order in which they are
 * written
 * @param storage id of the stored value that holds each value
 */
public record Program(
        Function function,
        List<LoweredOperator> operators,
        List<Step> steps,
        List<StoredValue> values,
        Map<Integer, Integer> storage) {
    public Program {
        operators = List.copyOf(operators);
        steps = List.copyOf(steps);
        values = List.copyOf(values);
        storage = Map.copyOf(storage);
    }
}
