// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.IntegerForm;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.element.TflRequantize;
import java.util.List;
import java.util.Optional;

/** Bytes of both signs as int8, which layers compute with: unsigned ones less 128. */
final class QuantizedBytes {
    private static final int OFFSET = 128;

    private QuantizedBytes() {}

    /** The elements of a tensor of int8 or uint8 as int8. */
    static Arg of(NodeContext node, OnnxValue value) {
        if (value.form().orElse(null) instanceof IntegerForm.Signed signed) {
            return signed.bytes();
        }
        return value.type() == ElementType.UINT8
                ? converted(node, value.arg(), new TflRequantize(-1, OFFSET, 0, DType.INT8))
                : value.arg();
    }

    /** A tensor of a type of the model, given its elements as int8. */
    static OnnxValue value(NodeContext node, Arg bytes, ElementType type) {
        return type == ElementType.UINT8
                ? new OnnxValue(
                        converted(node, bytes, new TflRequantize(-1, 0, OFFSET, DType.UINT8)),
                        type,
                        Optional.of(new IntegerForm.Signed(bytes)))
                : new OnnxValue(bytes, type);
    }

    private static Arg converted(NodeContext node, Arg value, TflRequantize by) {
        QuantizedMultiplier one = QuantizedMultiplier.of(1);
        return node.emit(by, List.of(value, Constant.scalar(one.multiplier()), Constant.scalar(one.shift())));
    }

    /** The real numbers that bytes stand for. */
    static OnnxValue dequantized(NodeContext node, IntegerForm.Dequantized form) {
        Arg real = node.emit(
                new QnnDequantize(),
                form.integers(),
                Constant.scalar(form.by().scale()),
                Constant.scalar(form.by().zeroPoint()));
        return new OnnxValue(real, ElementType.FLOAT, Optional.of(form));
    }
}
