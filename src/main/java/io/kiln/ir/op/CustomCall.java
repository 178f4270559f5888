// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Calls a C function of the user's, of which nothing is known but its results' types. Arguments: what it reads, then a variable for each result
 * but the first.
 *
 * @param code the operator's name in the model
 * @param function the C function's name
 * @param header file that declares it; empty for none
 * @param inputs number of tensors that it reads, 1 or more
 * @param outputs number of tensors that it computes, 1 or more
 * @param type of its first result
 */
public record CustomCall(String code, String function, String header, int inputs, int outputs, TensorType type)
        implements Op {
    @Override
    public String name() {
        return "tfl.custom";
    }

    @Override
    public int arity() {
        return inputs + outputs - 1;
    }

    @Override
    public List<Integer> writes() {
        return IntStream.range(inputs, arity()).boxed().toList();
    }

    @Override
    public boolean isOpaque() {
        return true;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes(
                "code", code,
                "function", function,
                "header", header,
                "inputs", inputs,
                "outputs", outputs,
                "shape", type.shape().dims(),
                "out_dtype", type.dtype().text());
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        return type;
    }
}
