// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Origin;
import io.kiln.ir.Result;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.ConstantFolder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Puts small networks together, one call per operator. Values are known by their references. */
final class NetBuilder {
    /** A window of one pixel. */
    static final Window POINT = Window.of(1, 1);

    /** 3x3 with one pixel of padding around. */
    static final Window SAME = Window.of(3, 3).padded(1, 1, 1, 1);

    private final GraphBuilder graph = new GraphBuilder(new ConstantFolder(0));

    Arg.Ref input(int... shape) {
        return input(DType.INT8, shape);
    }

    Arg.Ref floatInput(int... shape) {
        return input(DType.FLOAT32, shape);
    }

    private Arg.Ref input(DType dtype, int... shape) {
        return graph.parameter("in" + next(), new TensorType(Shape.of(shape), dtype), Optional.empty());
    }

    Arg.Ref bind(Op op, Arg... args) {
        return graph.call(op, List.of(args), new Origin("net", next(), op.name(), "t" + next()));
    }

    private int next() {
        return graph.params().size() + graph.bindings().size();
    }

    TensorType type(Arg.Ref value) {
        return graph.type(value);
    }

    int channels(Arg.Ref value) {
        return type(value).shape().dim(-1);
    }

    /** A convolution of one group; the accumulators. The weight lies as OHWI. */
    Arg.Ref conv(Arg.Ref data, Window window, int outputs, int zeroPoint, int... weight) {
        Shape shape = Shape.of(outputs, window.kernelH(), window.kernelW(), channels(data));
        return layer(new QnnConv2d(window, 1, outputs, "OHWI"), data, shape, zeroPoint, weight);
    }

    /** A depthwise convolution; the accumulators. The weight lies as HWOI. */
    Arg.Ref depthwise(Arg.Ref data, Window window, int multiplier, int zeroPoint, int... weight) {
        int inputs = channels(data);
        Shape shape = Shape.of(window.kernelH(), window.kernelW(), inputs, multiplier);
        return layer(new QnnConv2d(window, inputs, inputs * multiplier, "HWOI"), data, shape, zeroPoint, weight);
    }

    Arg.Ref dense(Arg.Ref data, int units, int zeroPoint, int... weight) {
        return layer(new QnnDense(units), data, Shape.of(units, channels(data)), zeroPoint, weight);
    }

    private Arg.Ref layer(Op op, Arg.Ref data, Shape shape, int zeroPoint, int... weight) {
        return bind(
                op,
                data,
                int8(shape, weight),
                Constant.scalar(zeroPoint),
                Constant.scalar(0),
                Constant.scalar(0.5f),
                Constant.vector(scales(op instanceof QnnConv2d conv ? conv.channels() : shape.dim(0))));
    }

    Arg.Ref bias(Arg.Ref accumulators, int... bias) {
        return bind(new BiasAdd(-1), accumulators, Constant.vector(bias));
    }

    private static float[] scales(int channels) {
        float[] scales = new float[channels];
        Arrays.fill(scales, 0.25f);
        return scales;
    }

    /** Rescales each channel by a real number. */
    Arg.Ref requantize(Arg.Ref accumulators, int zeroPoint, double... scales) {
        int[] multipliers = new int[scales.length];
        int[] shifts = new int[scales.length];
        for (int i = 0; i < scales.length; i++) {
            QuantizedMultiplier by = QuantizedMultiplier.of(scales[i]);
            multipliers[i] = by.multiplier();
            shifts[i] = by.shift();
        }
        return bind(
                new TflRequantize(-1, 0, zeroPoint, DType.INT8),
                accumulators,
                Constant.vector(multipliers),
                Constant.vector(shifts));
    }

    /** A sum whose sides and result have the given zero point and scale 1. */
    Arg.Ref add(Arg.Ref lhs, Arg rhs, int zeroPoint) {
        Constant one = Constant.scalar(1f);
        Constant zero = Constant.scalar(zeroPoint);
        return bind(new QnnAdd(), lhs, rhs, one, zero, one, zero, one, zero);
    }

    static Constant int8(Shape shape, int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return new Constant("", new TensorType(shape, DType.INT8), Bytes.wrap(bytes));
    }

    Function function(Arg.Ref... results) {
        List<Result> named = new ArrayList<>();
        for (Arg.Ref result : results) {
            named.add(new Result(result.id(), "out" + named.size(), Optional.empty()));
        }
        return graph.build("net", named);
    }
}
