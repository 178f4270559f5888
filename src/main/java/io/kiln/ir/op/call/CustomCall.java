// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.call;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Calls a C function of the user, of which only the result types are known. Arguments: the tensors that it reads; with
 * the quantization, the constants scales (float32) and zero points (int32), an element for each tensor, inputs before
 * outputs, 0 for tensors without quantization; with the options, the constant of their bytes (uint8, at least one
 * element); then a variable for each result but the first.
 *
 * @param code the operator's name in the model
 * @param function the C function's name
 * @param header file that declares it; empty for none
 * @param inputs number of tensors that it reads, 1 or more
 * @param outputs number of tensors that it computes, 1 or more
 * @param type type of its first result
 * @param quantization whether it gets scales and zero points
 * @param options number of bytes of the options that it gets, 0 or more; -1 if it gets none
 */
public record CustomCall(
        String code,
        String function,
        String header,
        int inputs,
        int outputs,
        TensorType type,
        boolean quantization,
        int options)
        implements Op {
    /** Whether it gets the options' bytes. */
    public boolean hasOptions() {
        return options >= 0;
    }

    /** Number of arguments that are read. */
    public int reads() {
        return inputs + (quantization ? 2 : 0) + (hasOptions() ? 1 : 0);
    }

    @Override
    public String name() {
        return "tfl.custom";
    }

    @Override
    public int arity() {
        return reads() + outputs - 1;
    }

    @Override
    public List<Integer> writes() {
        return IntStream.range(reads(), arity()).boxed().toList();
    }

    @Override
    public Map<String, Object> attributes() {
        Map<String, Object> attributes = new LinkedHashMap<>(Check.attributes(
                "code", code,
                "function", function,
                "header", header,
                "inputs", inputs,
                "outputs", outputs,
                "shape", type.shape().dims(),
                "out_dtype", type.dtype().text()));
        if (quantization) {
            attributes.put("quantization", 1);
        }
        if (hasOptions()) {
            attributes.put("options_size", options);
        }
        return Collections.unmodifiableMap(attributes);
    }

    @Override
    public int operands() {
        return inputs;
    }

    @Override
    public Set<Trait> traits() {
        return Set.of(Trait.OPAQUE);
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        if (quantization) {
            checkVector("scales", args.get(inputs), DType.FLOAT32, inputs + outputs);
            checkVector("zero points", args.get(inputs + 1), DType.INT32, inputs + outputs);
        }
        if (hasOptions()) {
            checkVector("options", args.get(reads() - 1), DType.UINT8, Math.max(1, options));
        }
        return type;
    }

    private static void checkVector(String what, TensorType actual, DType dtype, int elements) {
        TensorType expected = new TensorType(Shape.of(elements), dtype);
        Check.that(actual.equals(expected), what + " are " + actual.text() + ", not " + expected.text());
    }
}
