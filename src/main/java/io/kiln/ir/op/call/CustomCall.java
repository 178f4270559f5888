// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.call;

import io.kiln.base.DType;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.LinkedHashMap;
import java.util.Map;

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
    public static final Signature<CustomCall> SIGNATURE = Signature.of(CustomCall.class, "tfl.custom")
            .data("input", operand -> operand.times(CustomCall::inputs))
            .constant(
                    "scales",
                    operand -> operand.times(op -> op.quantization ? 1 : 0)
                            .fits((what, type, op, args) ->
                                    fitVector(what, type, DType.FLOAT32, op.inputs + op.outputs)))
            .constant(
                    "zero points",
                    operand -> operand.times(op -> op.quantization ? 1 : 0)
                            .fits((what, type, op, args) -> fitVector(what, type, DType.INT32, op.inputs + op.outputs)))
            .constant(
                    "options",
                    operand -> operand.times(op -> op.hasOptions() ? 1 : 0)
                            .fits((what, type, op, args) ->
                                    fitVector(what, type, DType.UINT8, Math.max(1, op.options))))
            .state("result", operand -> operand.times(op -> op.outputs - 1))
            .text(CustomCall::text)
            .traits(Trait.OPAQUE)
            .result((op, args) -> op.type);

    @Override
    public Card<CustomCall> card() {
        return SIGNATURE.of(this);
    }

    /** Whether it gets the options' bytes. */
    public boolean hasOptions() {
        return options >= 0;
    }

    /** Number of arguments that are read. */
    public int reads() {
        return inputs + (quantization ? 2 : 0) + (hasOptions() ? 1 : 0);
    }

    private static void fitVector(String what, TensorType actual, DType dtype, int elements) {
        TensorType expected = new TensorType(Shape.of(elements), dtype);
        Check.that(actual.equals(expected), what + " are " + actual.text() + ", not " + expected.text());
    }

    private Map<String, Object> text() {
        Map<String, Object> text = new LinkedHashMap<>();
        text.put("code", code);
        text.put("function", function);
        text.put("header", header);
        text.put("inputs", inputs);
        text.put("outputs", outputs);
        text.put("shape", type.shape().dims());
        text.put("out_dtype", type.dtype().text());
        if (quantization) {
            text.put("quantization", 1);
        }
        if (hasOptions()) {
            text.put("options_size", options);
        }
        return text;
    }
}
