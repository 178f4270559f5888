// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.Quantization;
import io.kiln.ir.Result;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.element.QnnQuantize;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnConv2dTranspose;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.layer.TflNormalize;
import io.kiln.ir.op.layer.TflSoftmax;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;

/** Seeded models of one operator and its epilogue: shapes, strides, paddings, dilations, channel counts, zero points. */
public final class RandomOperators {
    private static final int[] CHANNELS = {1, 2, 3, 4, 5, 7, 8, 12, 16};

    private final Random random;
    private final List<Parameter> params = new ArrayList<>();
    private final List<Binding> bindings = new ArrayList<>();

    private RandomOperators(long seed) {
        this.random = new Random(seed);
    }

    /** A function named {@code case<seed>}; the same for the same seed. */
    public static Function next(long seed) {
        return new RandomOperators(seed).build("case" + seed);
    }

    /**
     * As {@link #next}, but many are of kinds for which micro-kernels are written, and of the others every second only copies elements or
     * is a layer of another type.
     */
    public static Function mixed(long seed) {
        return switch ((int) (seed % 16)) {
            case 3, 11, 15 -> depthwise(seed);
            case 7 -> new RandomOperators(seed).overTime("column" + seed);
            case 9 -> new RandomOperators(seed).square("square" + seed);
            case 1, 6, 12 -> RandomMovements.next(seed);
            case 2, 5, 13 -> RandomLayers.next(seed);
            default -> next(seed);
        };
    }

    /** The same function with the int8 weights of its layers from -8 to 7, or from -7 on. */
    public static Function ofFourBits(Function function) {
        List<Binding> bindings = new ArrayList<>();
        for (Binding b : function.bindings()) {
            List<Arg> args = new ArrayList<>(b.args());
            boolean isLayer =
                    b.op() instanceof QnnConv2d || b.op() instanceof QnnConv2dTranspose || b.op() instanceof QnnDense;
            if (isLayer && b.constant(1).type().dtype() == DType.INT8) {
                args.set(1, ofFourBits(b.constant(1)));
            }
            bindings.add(new Binding(b.id(), b.op(), args, b.type(), b.origin()));
        }
        return new Function(function.name(), function.params(), bindings, function.results());
    }

    private static Constant ofFourBits(Constant weights) {
        byte[] values = weights.data().toArray();
        int least = values[0] % 2 == 0 ? -8 : -7;
        for (int i = 0; i < values.length; i++) {
            values[i] = (byte) Math.max(least, values[i] >> 4);
        }
        return new Constant(weights.name(), weights.type(), Bytes.wrap(values));
    }

    /** An int8 depthwise convolution with as many channels as its input has. */
    public static Function depthwise(long seed) {
        return new RandomOperators(seed).depthwise("depthwise" + seed);
    }

    private Function depthwise(String name) {
        Shape shape = Shape.of(1 + below(8) / 7, 1 + below(14), 1 + below(30), 4 + below(20));
        Window w = below(3) == 0 ? window(shape.dim(1), shape.dim(2), false) : threeByThree(shape);
        return depthwise(name, shape, w);
    }

    /** A depthwise convolution of one column without padding. */
    private Function overTime(String name) {
        int taps = 1 + below(12);
        int rows = 1 + below(9);
        int stride = 1 + below(8) / 7;
        Shape shape = Shape.of(1 + below(8) / 7, (rows - 1) * stride + taps, 1, 4 + below(14));
        return depthwise(name, shape, new Window(taps, 1, stride, 1, 1, 1, 0, 0, 0, 0));
    }

    /** A convolution of 3x3 that keeps the size of its input. */
    private Function square(String name) {
        Shape shape = Shape.of(1 + below(8) / 7, 1 + below(6), 1 + below(12), 4 * (1 + below(4)));
        int channels = 4 + below(8);
        Arg.Ref x = parameter(shape, DType.INT8);
        Arg.Ref sum = bind(
                new QnnConv2d(new Window(3, 3, 1, 1, 1, 1, 1, 1, 1, 1), 1, channels, "OHWI"),
                x,
                weights(Shape.of(channels, 3, 3, shape.dim(3)), true),
                Constant.scalar(below(256) - 128),
                Constant.scalar(0),
                Constant.scalar(0.05f),
                Constant.scalar(0.01f));
        epilogue(sum, channels, true, 9L * shape.dim(3));
        return function(name);
    }

    private Function depthwise(String name, Shape shape, Window w) {
        int channels = shape.dim(3);
        Arg.Ref x = parameter(shape, DType.INT8);
        Arg.Ref sum = bind(
                new QnnConv2d(w, channels, channels, "HWOI"),
                x,
                weights(Shape.of(w.kernelH(), w.kernelW(), channels, 1), true),
                Constant.scalar(below(256) - 128),
                Constant.scalar(0),
                Constant.scalar(0.05f),
                Constant.scalar(0.01f));
        epilogue(sum, channels, true, (long) w.kernelH() * w.kernelW());
        return function(name);
    }

    /** Padded as SAME is, or not at all where that is possible. */
    private Window threeByThree(Shape shape) {
        boolean padded = shape.dim(1) < 3 || shape.dim(2) < 3 || below(3) > 0;
        int before = padded ? below(2) : 0;
        int after = padded ? 2 - before : 0;
        int stride = 1 + below(2);
        return new Window(3, 3, stride, stride, 1, 1, before, before, after, after);
    }

    /** Random bytes for an input; floats are within [-4, 4). */
    public static Bytes input(TensorType type, long seed) {
        Random random = new Random(seed);
        byte[] data = new byte[Math.toIntExact(type.bytes())];
        random.nextBytes(data);
        if (type.dtype() == DType.BOOL) {
            for (int i = 0; i < data.length; i++) {
                data[i] &= 1;
            }
        }
        if (type.dtype().isFloat()) {
            float[] values = new float[data.length / 4];
            for (int i = 0; i < values.length; i++) {
                values[i] = random.nextFloat() * 8 - 4;
            }
            return Constant.vector(values).data();
        }
        return Bytes.wrap(data);
    }

    private Function build(String name) {
        switch (random.nextInt(10)) {
            case 0, 1, 2 -> convolution(true);
            case 3 -> convolution(false);
            case 4 -> dense(random.nextBoolean());
            case 5 -> pool();
            case 6 -> quantizedSum();
            case 7 -> softmax();
            case 8 -> conversion();
            default -> floatSum();
        }
        return function(name);
    }

    private Function function(String name) {
        int last = bindings.get(bindings.size() - 1).id();
        return new Function(name, params, bindings, List.of(new Result(last, "out", Optional.empty())));
    }

    private int below(int bound) {
        return random.nextInt(bound);
    }

    private int channels() {
        return CHANNELS[below(CHANNELS.length)];
    }

    private Arg.Ref parameter(Shape shape, DType dtype) {
        Optional<Quantization> quantization =
                dtype == DType.INT8 ? Optional.of(new Quantization(0.05f, 0)) : Optional.empty();
        params.add(new Parameter(params.size(), "in" + params.size(), new TensorType(shape, dtype), quantization));
        return new Arg.Ref(params.size() - 1);
    }

    private Arg.Ref bind(Op op, Arg... args) {
        List<TensorType> types = new ArrayList<>();
        for (Arg arg : args) {
            if (arg instanceof Constant constant) {
                types.add(constant.type());
            } else {
                int id = ((Arg.Ref) arg).id();
                types.add(
                        id < 100
                                ? params.get(id).type()
                                : bindings.get(id - 100).type());
            }
        }
        int id = 100 + bindings.size();
        bindings.add(new Binding(id, op, List.of(args), op.infer(types), new Origin("random", 0, op.name(), "t" + id)));
        return new Arg.Ref(id);
    }

    private Constant weights(Shape shape, boolean quantized) {
        TensorType type = new TensorType(shape, quantized ? DType.INT8 : DType.FLOAT32);
        return new Constant("weight", type, input(type, random.nextLong()));
    }

    private Window window(int height, int width, boolean dilated) {
        int kernelH = 1 + below(4);
        int kernelW = 1 + below(4);
        int dilationH = dilated && below(4) == 0 ? 2 : 1;
        int dilationW = dilated && below(4) == 0 ? 2 : 1;
        int spanH = (kernelH - 1) * dilationH + 1;
        int spanW = (kernelW - 1) * dilationW + 1;
        boolean padded = random.nextBoolean();
        int padH = padded ? below(spanH) : 0;
        int padW = padded ? below(spanW) : 0;
        int moreH = Math.max(0, spanH - height - padH);
        int moreW = Math.max(0, spanW - width - padW);
        int bottom = moreH + (padded ? below(spanH) : 0);
        int right = moreW + (padded ? below(spanW) : 0);
        return new Window(
                kernelH, kernelW, 1 + below(3), 1 + below(3), dilationH, dilationW, padH, padW, bottom, right);
    }

    private void convolution(boolean quantized) {
        int kind = below(3);
        int in = kind == 0 ? channels() : 1 + below(8);
        int groups = kind == 0 ? 1 : kind == 1 ? in : in % 2 == 0 ? 2 : 1;
        boolean depthwise = groups == in && groups > 1;
        int out = depthwise ? in * (1 + below(3)) : groups * (1 + below(9));
        Shape shape = Shape.of(1 + below(8) / 7, 1 + below(9), 1 + below(9), in);
        Window w = window(shape.dim(1), shape.dim(2), true);
        Shape kernel = depthwise
                ? Shape.of(w.kernelH(), w.kernelW(), in, out / in)
                : Shape.of(out, w.kernelH(), w.kernelW(), in / groups);
        Arg.Ref x = parameter(shape, quantized ? DType.INT8 : DType.FLOAT32);
        String layout = depthwise ? "HWOI" : "OHWI";
        int zeroPoint = below(256) - 128;
        Arg.Ref sum = quantized
                ? bind(
                        new QnnConv2d(w, groups, out, layout),
                        x,
                        weights(kernel, true),
                        Constant.scalar(zeroPoint),
                        Constant.scalar(0),
                        Constant.scalar(0.05f),
                        Constant.scalar(0.01f))
                : bind(new Conv2d(w, groups, out, layout), x, weights(kernel, false));
        epilogue(sum, out, quantized, kernel.elements() / out);
    }

    private void dense(boolean quantized) {
        int in = 1 + below(40);
        int units = channels();
        Arg.Ref x = parameter(Shape.of(1 + below(3), in), quantized ? DType.INT8 : DType.FLOAT32);
        Constant weight = weights(Shape.of(units, in), quantized);
        Arg.Ref sum = quantized
                ? bind(
                        new QnnDense(units),
                        x,
                        weight,
                        Constant.scalar(below(256) - 128),
                        Constant.scalar(0),
                        Constant.scalar(0.05f),
                        Constant.scalar(0.01f))
                : bind(new Dense(units), x, weight);
        epilogue(sum, units, quantized, in);
    }

    private void epilogue(Arg.Ref sum, int channels, boolean quantized, long taps) {
        Arg.Ref current = sum;
        if (below(4) > 0) {
            Constant bias = quantized
                    ? Constant.vector(random.ints(channels, -9000, 9000).toArray())
                    : Constant.vector(floats(channels));
            current = bind(new BiasAdd(-1), current, bias);
        }
        if (quantized) {
            current = requantize(current, random.nextBoolean() ? channels : 1, taps);
        }
        clip(current, quantized);
    }

    private Arg.Ref requantize(Arg.Ref value, int channels, long taps) {
        int[] multipliers = new int[channels];
        int[] shifts = new int[channels];
        boolean extreme = below(6) == 0;
        for (int i = 0; i < channels; i++) {
            double typical = 1.0 / (128 * Math.sqrt((double) taps)) * (0.2 + random.nextDouble());
            double real = extreme ? Math.scalb(0.5 + random.nextDouble(), below(40) - 34) : typical;
            QuantizedMultiplier q = QuantizedMultiplier.of(real);
            multipliers[i] = q.multiplier();
            shifts[i] = q.shift();
        }
        Constant m = channels == 1 ? Constant.scalar(multipliers[0]) : Constant.vector(multipliers);
        Constant s = channels == 1 ? Constant.scalar(shifts[0]) : Constant.vector(shifts);
        return bind(new TflRequantize(-1, 0, below(256) - 128, DType.INT8), value, m, s);
    }

    private void clip(Arg.Ref value, boolean quantized) {
        if (random.nextBoolean()) {
            int low = quantized ? below(100) - 100 : 0;
            bind(new Clip(low, quantized ? low + below(100) : 6), value);
        }
    }

    private float[] floats(int count) {
        float[] values = new float[count];
        IntStream.range(0, count).forEach(i -> values[i] = random.nextFloat() - 0.5f);
        return values;
    }

    private void pool() {
        Shape shape = Shape.of(1, 1 + below(9), 1 + below(9), channels());
        DType dtype = random.nextBoolean() ? DType.INT8 : DType.FLOAT32;
        Arg.Ref x = parameter(shape, dtype);
        Window w = coveredWindow(shape);
        clip(bind(random.nextBoolean() ? new AvgPool2d(w) : new MaxPool2d(w), x), dtype == DType.INT8);
    }

    /** Pads less than half a window, as SAME does, so that every window covers some input. */
    private Window coveredWindow(Shape shape) {
        int kernelH = 1 + below(Math.min(4, shape.dim(1)));
        int kernelW = 1 + below(Math.min(4, shape.dim(2)));
        int padH = below((kernelH + 1) / 2);
        int padW = below((kernelW + 1) / 2);
        return new Window(kernelH, kernelW, 1 + below(3), 1 + below(3), 1, 1, padH, padW, padH, padW);
    }

    private Shape elementwiseShape() {
        return Shape.of(1 + below(5) / 4, 1 + below(5), 1 + below(5), channels());
    }

    /** The shape itself, or one that broadcasts to it. */
    private Shape broadcastable(Shape shape) {
        return switch (below(3)) {
            case 0 -> shape;
            case 1 -> Shape.of(shape.dim(3));
            default -> Shape.of(1, shape.dim(1), 1, shape.dim(3));
        };
    }

    private void quantizedSum() {
        Shape shape = elementwiseShape();
        Arg.Ref lhs = parameter(shape, DType.INT8);
        Arg rhs = random.nextBoolean()
                ? parameter(broadcastable(shape), DType.INT8)
                : weights(broadcastable(shape), true);
        clip(bind(new QnnAdd(), lhs, rhs, scale(), zeroPoint(), scale(), zeroPoint(), scale(), zeroPoint()), true);
    }

    private Constant scale() {
        return Constant.scalar(0.001f + random.nextFloat());
    }

    private Constant zeroPoint() {
        return Constant.scalar(below(256) - 128);
    }

    private void floatSum() {
        Shape shape = elementwiseShape();
        Arg.Ref lhs = parameter(shape, DType.FLOAT32);
        clip(bind(new Binary(Binary.Kind.ADD), lhs, parameter(broadcastable(shape), DType.FLOAT32)), false);
    }

    private void softmax() {
        Shape shape = Shape.of(1 + below(3), 1 + below(40));
        if (below(3) == 0) {
            TflNormalize.Kind kind =
                    random.nextBoolean() ? TflNormalize.Kind.LOG_SOFTMAX : TflNormalize.Kind.L2_NORMALIZE;
            bind(new TflNormalize(kind), parameter(shape, DType.INT8), scale(), zeroPoint());
        } else if (random.nextBoolean()) {
            bind(new Softmax(1.0f), parameter(shape, DType.FLOAT32));
        } else {
            bind(
                    new TflSoftmax(1.0f),
                    parameter(shape, DType.INT8),
                    scale(),
                    zeroPoint(),
                    Constant.scalar(1 / 256f),
                    Constant.scalar(-128));
        }
    }

    private void conversion() {
        switch (below(3)) {
            case 0 ->
                bind(new QnnQuantize(DType.INT8), parameter(elementwiseShape(), DType.FLOAT32), scale(), zeroPoint());
            case 1 -> bind(new QnnDequantize(), parameter(elementwiseShape(), DType.INT8), scale(), zeroPoint());
            default -> {
                QuantizedMultiplier q = QuantizedMultiplier.of(random.nextDouble() * 3);
                bind(
                        new TflRequantize(-1, below(256) - 128, below(256) - 128, DType.INT8),
                        parameter(elementwiseShape(), DType.INT8),
                        Constant.scalar(q.multiplier()),
                        Constant.scalar(q.shift()));
            }
        }
    }
}
