// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.QnnQuantize;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.List;
import java.util.stream.IntStream;

/**
 * {@code DynamicQuantizeLinear}: the range of the data and 0 is divided into 255 steps; the results are the bytes as
 * uint8, the step (scale) and the byte of 0 (zero point). An empty range has steps of 1
 * (GetQuantizationParameter in core/util/qmath.h of ONNX Runtime).
 */
final class DynamicQuantizeLinear implements OnnxImporter {
    private static final float STEPS = 255;

    @Override
    public void emit(NodeContext node) {
        Expressions e = new Expressions(node);
        node.require(
                node.element(0) == ElementType.FLOAT,
                "its data is " + node.element(0).text(),
                "float");
        Arg low = e.binary(Binary.Kind.MINIMUM, extreme(e, node, Reduce.Kind.MIN), e.number(0, DType.FLOAT32));
        Arg high = e.binary(Binary.Kind.MAXIMUM, extreme(e, node, Reduce.Kind.MAX), e.number(0, DType.FLOAT32));
        Arg one = e.number(1, DType.FLOAT32);
        Arg step = e.divide(e.subtract(high, low), e.number(STEPS, DType.FLOAT32));
        Arg scale = e.where(e.binary(Binary.Kind.EQUAL, low, high), one, step);
        Arg place = e.divide(e.subtract(e.number(0, DType.FLOAT32), low), scale);
        Arg zero = e.unary(Unary.Kind.ROUND, node.emit(new Clip(0, STEPS), place));
        Arg rounded = e.unary(Unary.Kind.ROUND, e.divide(node.arg(0), scale));
        Arg bytes = node.emit(
                new QnnQuantize(DType.INT8, Rounding.ONNX),
                e.add(rounded, zero),
                Constant.scalar(1f),
                Constant.scalar((int) Byte.MIN_VALUE));
        node.finish(0, QuantizedBytes.value(node, bytes, ElementType.UINT8));
        node.finish(1, scale, ElementType.FLOAT);
        node.finish(2, e.cast(zero, DType.UINT8), ElementType.UINT8);
    }

    private static Arg extreme(Expressions e, NodeContext node, Reduce.Kind kind) {
        List<Integer> axes = IntStream.range(0, node.shape(0).rank()).boxed().toList();
        Arg extreme = axes.isEmpty() ? node.arg(0) : e.reduce(kind, node.arg(0), axes);
        return e.reshape(extreme, Shape.scalar());
    }
}
