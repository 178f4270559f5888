// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DType;
import io.kiln.frontend.SignChange;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.QnnDequantize;
import java.util.Optional;

/** Bytes of both signs as int8, which layers compute with: unsigned ones less 128; integers of 16 bits likewise as int16. */
final class QuantizedBytes {
    private QuantizedBytes() {}

    /** The elements of a tensor of int8 or uint8 as int8. */
    static Arg of(NodeContext node, OnnxValue value) {
        if (value.form().orElse(null) instanceof IntegerForm.Signed signed) {
            return signed.bytes();
        }
        return value.type() == ElementType.UINT8 ? converted(node, value.arg(), DType.INT8) : value.arg();
    }

    /** A tensor of a type of the model, given its elements as int8. */
    static OnnxValue value(NodeContext node, Arg bytes, ElementType type) {
        return type == ElementType.UINT8
                ? new OnnxValue(converted(node, bytes, DType.UINT8), type, Optional.of(new IntegerForm.Signed(bytes)))
                : new OnnxValue(bytes, type);
    }

    /** The elements of a tensor of int16 or uint16 as int16. */
    static Arg shorts(NodeContext node, OnnxValue value) {
        if (value.form().orElse(null) instanceof IntegerForm.Signed signed) {
            return signed.bytes();
        }
        return value.type() == ElementType.UINT16
                ? node.cast(node.add(node.cast(value.arg(), DType.INT32), Short.MIN_VALUE), DType.INT16)
                : value.arg();
    }

    /** A tensor of int16 or uint16, given its elements as int16. */
    static OnnxValue ofShorts(NodeContext node, Arg shorts, ElementType type) {
        return type == ElementType.UINT16
                ? new OnnxValue(
                        node.add(node.cast(shorts, DType.INT32), -Short.MIN_VALUE),
                        type,
                        Optional.of(new IntegerForm.Signed(shorts)))
                : new OnnxValue(shorts, type);
    }

    private static Arg converted(NodeContext node, Arg value, DType to) {
        return node.emit(SignChange.to(to), SignChange.arguments(value));
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
