// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.op.element.QnnBinary;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.element.QnnQuantize;
import io.kiln.ir.op.element.TflLeakyRelu;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.layer.TflNormalize;
import io.kiln.ir.op.layer.TflSoftmax;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;

/** Draws pools, sums, normalisations and conversions. */
final class RandomElements {
    private final FunctionDraw draw;

    RandomElements(FunctionDraw draw) {
        this.draw = draw;
    }

    void pool() {
        Shape shape = Shape.of(1, 1 + draw.below(9), 1 + draw.below(9), draw.channels());
        DType dtype = draw.random.nextBoolean() ? DType.INT8 : DType.FLOAT32;
        Arg.Ref x = draw.parameter(shape, dtype);
        Window w = coveredWindow(shape);
        draw.clip(draw.bind(draw.random.nextBoolean() ? new AvgPool2d(w) : new MaxPool2d(w), x), dtype == DType.INT8);
    }

    /** Pads less than half a window, as SAME does, so that every window covers some input. */
    private Window coveredWindow(Shape shape) {
        int kernelH = 1 + draw.below(Math.min(4, shape.dim(1)));
        int kernelW = 1 + draw.below(Math.min(4, shape.dim(2)));
        int padH = draw.below((kernelH + 1) / 2);
        int padW = draw.below((kernelW + 1) / 2);
        return Window.of(kernelH, kernelW)
                .strided(1 + draw.below(3), 1 + draw.below(3))
                .padded(padH, padW, padH, padW);
    }

    void quantizedSum() {
        Shape shape = elementwiseShape();
        Arg.Ref lhs = draw.parameter(shape, DType.INT8);
        Arg rhs = draw.random.nextBoolean()
                ? draw.parameter(broadcastable(shape), DType.INT8)
                : draw.weights(broadcastable(shape), true);
        draw.clip(
                draw.bind(
                        new QnnAdd(),
                        lhs,
                        rhs,
                        draw.scale(),
                        draw.zeroPoint(),
                        draw.scale(),
                        draw.zeroPoint(),
                        draw.scale(),
                        draw.zeroPoint()),
                true);
    }

    /** A sum, difference or leaky ReLU of int16 data. */
    void ofShorts() {
        Shape shape = elementwiseShape();
        Arg.Ref x = draw.parameter(shape, DType.INT16);
        if (draw.below(3) == 0) {
            draw.bind(new TflLeakyRelu(0, 0, slope(), slope()), x);
            return;
        }
        Shape other = broadcastable(shape);
        Arg y = draw.random.nextBoolean()
                ? draw.parameter(other, DType.INT16)
                : new Constant("operand", new TensorType(other, DType.INT16), bytes(other));
        boolean isSwapped = other.equals(shape) && draw.random.nextBoolean();
        Constant scale = draw.scale();
        draw.clip(
                draw.bind(
                        draw.random.nextBoolean() ? new QnnAdd() : new QnnBinary(QnnBinary.Kind.SUBTRACT),
                        isSwapped ? y : x,
                        isSwapped ? x : y,
                        scale,
                        Constant.scalar(0),
                        draw.below(4) == 0 ? scale : draw.scale(),
                        Constant.scalar(0),
                        draw.scale(),
                        Constant.scalar(0)),
                true);
    }

    private Bytes bytes(Shape shape) {
        return RandomOperators.input(new TensorType(shape, DType.INT16), draw.random.nextLong());
    }

    private QuantizedMultiplier slope() {
        return QuantizedMultiplier.of(draw.below(3) == 0 ? 1 : draw.random.nextDouble() * 1.5);
    }

    void floatSum() {
        Shape shape = elementwiseShape();
        Arg.Ref lhs = draw.parameter(shape, DType.FLOAT32);
        draw.clip(
                draw.bind(new Binary(Binary.Kind.ADD), lhs, draw.parameter(broadcastable(shape), DType.FLOAT32)),
                false);
    }

    void softmax() {
        Shape shape = Shape.of(1 + draw.below(3), 1 + draw.below(40));
        if (draw.below(3) == 0) {
            TflNormalize.Kind kind =
                    draw.random.nextBoolean() ? TflNormalize.Kind.LOG_SOFTMAX : TflNormalize.Kind.L2_NORMALIZE;
            draw.bind(new TflNormalize(kind), draw.parameter(shape, DType.INT8), draw.scale(), draw.zeroPoint());
        } else if (draw.random.nextBoolean()) {
            draw.bind(new Softmax(1.0f), draw.parameter(shape, DType.FLOAT32));
        } else {
            draw.bind(
                    new TflSoftmax(1.0f),
                    draw.parameter(shape, DType.INT8),
                    draw.scale(),
                    draw.zeroPoint(),
                    Constant.scalar(1 / 256f),
                    Constant.scalar(-128));
        }
    }

    void conversion() {
        switch (draw.below(3)) {
            case 0 ->
                draw.bind(
                        new QnnQuantize(DType.INT8),
                        draw.parameter(elementwiseShape(), DType.FLOAT32),
                        draw.scale(),
                        draw.zeroPoint());
            case 1 ->
                draw.bind(
                        new QnnDequantize(),
                        draw.parameter(elementwiseShape(), DType.INT8),
                        draw.scale(),
                        draw.zeroPoint());
            default -> {
                QuantizedMultiplier q = QuantizedMultiplier.of(draw.random.nextDouble() * 3);
                draw.bind(
                        new TflRequantize(-1, draw.below(256) - 128, draw.below(256) - 128, DType.INT8),
                        draw.parameter(elementwiseShape(), DType.INT8),
                        Constant.scalar(q.multiplier()),
                        Constant.scalar(q.shift()));
            }
        }
    }

    private Shape elementwiseShape() {
        return Shape.of(1 + draw.below(5) / 4, 1 + draw.below(5), 1 + draw.below(5), draw.channels());
    }

    /** The shape itself, or one that broadcasts to it. */
    private Shape broadcastable(Shape shape) {
        return switch (draw.below(3)) {
            case 0 -> shape;
            case 1 -> Shape.of(shape.dim(3));
            default -> Shape.of(1, shape.dim(1), 1, shape.dim(3));
        };
    }
}
