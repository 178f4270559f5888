// SPDX-License-Identifier: Apache-2.0
package io.kiln.draw;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.op.element.QnnBinary;
import io.kiln.ir.op.element.QnnRequantize;
import io.kiln.ir.op.element.TflLeakyRelu;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.layer.TransposedConvolutions.QnnConv2dTranspose;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** Seeded models of one operator and its epilogue: shapes, strides, paddings, dilations, channel counts, zero points. */
public final class RandomOperators {
    private static final float[] SPECIAL = {
        Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, -0f, 0, Float.MIN_VALUE, -1e-40f, 0.5f, -1.5f
    };

    private static final List<Signature<? extends Op>> POOLS = List.of(AvgPool2d.SIGNATURE, MaxPool2d.SIGNATURE);

    private static final List<Signature<? extends Op>> SHORTS =
            List.of(QnnAdd.SIGNATURE, QnnBinary.SIGNATURES.get(QnnBinary.Kind.SUBTRACT), TflLeakyRelu.SIGNATURE);

    /** Where the seeds of {@link #element} and of what moves begin, so that few kinds of values are drawn by none. */
    private static final long SEEDS = 130_000;

    private RandomOperators() {}

    /** A function named {@code case<seed>}; the same for the same seed. */
    public static Function next(long seed) {
        FunctionDraw draw = new FunctionDraw(seed);
        String name = "case" + seed;
        RandomFilters filters = new RandomFilters(draw);
        switch (draw.below(10)) {
            case 0, 1, 2 -> filters.convolution(true);
            case 3 -> filters.convolution(false);
            case 4 -> filters.dense(draw.random.nextBoolean());
            case 5 -> {
                return OperatorDraw.of(
                        draw, name, draw.oneOf(POOLS), draw.oneOf(List.of(DType.INT8, DType.FLOAT32, DType.INT32)));
            }
            case 6 -> {
                return draw.random.nextBoolean() ? sum(draw, name, DType.INT16) : sum(draw, name, DType.INT8);
            }
            case 7 -> {
                return any(draw, name, OperatorDraw.NORMALIZING);
            }
            case 8 -> {
                return any(draw, name, OperatorDraw.CONVERTING);
            }
            default -> {
                return any(draw, name, OperatorDraw.SUMMING);
            }
        }
        return draw.function(name);
    }

    private static Function any(FunctionDraw draw, String name, List<OperatorDraw.Kind> kinds) {
        return OperatorDraw.inTurn(draw.below(kinds.size()), draw, name, kinds);
    }

    /** A sum; of int16 data also a difference or a leaky ReLU. */
    private static Function sum(FunctionDraw draw, String name, DType dtype) {
        return OperatorDraw.of(draw, name, dtype == DType.INT8 ? QnnAdd.SIGNATURE : draw.oneOf(SHORTS), dtype);
    }

    /**
     * As {@link #next}, but many are of kinds for which micro-kernels are written, and of the others every second only copies elements or
     * is a layer of another type.
     */
    public static Function mixed(long seed) {
        return switch ((int) (seed % 16)) {
            case 3, 11, 15 -> depthwise(seed);
            case 7 -> drawn("column", seed, RandomFilters::overTime);
            case 10 -> drawn("large", seed, RandomFilters::large);
            case 9 -> drawn("square", seed, RandomFilters::square);
            case 14 -> hard(seed);
            case 1, 6, 12 -> movement(seed);
            case 2, 5, 13 -> RandomLayers.next(seed);
            default -> next(seed);
        };
    }

    /** An operator that moves or reduces elements; operators and element types take turns with the seeds that {@link #mixed} asks for. */
    private static Function movement(long seed) {
        return OperatorDraw.inTurn(seed / 16 * 3 + seed % 16 / 5, scattered(seed), "move" + seed, OperatorDraw.MOVING);
    }

    /** An operator that computes each element, row or image from few others; operators and element types take turns. */
    public static Function element(long seed) {
        int all = OperatorDraw.ALL.size();
        return seed < all
                ? OperatorDraw.inTurn(seed, scattered(seed), "element" + seed, OperatorDraw.ALL)
                : OperatorDraw.inTurn(seed - all, scattered(seed), "element" + seed, OperatorDraw.VARIED);
    }

    /** Draws of seeds that follow each other have nothing in common. */
    private static FunctionDraw scattered(long seed) {
        return new FunctionDraw((seed + SEEDS) * 0x9E3779B97F4A7C15L);
    }

    /** A pool of int8 or float data. */
    public static Function pool(long seed) {
        return OperatorDraw.of(
                new FunctionDraw(seed),
                "pool" + seed,
                POOLS.get((int) (seed % 2)),
                seed % 3 == 0 ? DType.FLOAT32 : DType.INT8);
    }

    /** An int8 depthwise convolution with as many channels as its input has. */
    public static Function depthwise(long seed) {
        return drawn("depthwise", seed, RandomFilters::depthwise);
    }

    /** An int8 depthwise convolution, often with a wide or dilated window or several channels for one of the input. */
    public static Function wideDepthwise(long seed) {
        return drawn("wide_depthwise", seed, RandomFilters::wideDepthwise);
    }

    /** A sum, difference or leaky ReLU of int16 data. */
    public static Function ofShorts(long seed) {
        return sum(new FunctionDraw(seed), "shorts" + seed, DType.INT16);
    }

    /** The sum of two tensors of int8 data. */
    public static Function ofBytes(long seed) {
        return sum(new FunctionDraw(seed), "bytes" + seed, DType.INT8);
    }

    /** An int8 layer that is hard on purpose. */
    public static Function hard(long seed) {
        return drawn("hard", seed, filters -> new RandomHardLayers(filters.draw(), filters).next());
    }

    /** An int8 depthwise convolution of narrow rows or with a large window that is hard on purpose. */
    public static Function hardDepthwise(long seed) {
        return drawn("hard_depthwise", seed, filters -> new RandomHardLayers(filters.draw(), filters).depthwise());
    }

    /** An int8 dense layer of thousands of products. */
    public static Function dense(long seed) {
        return drawn("dense", seed, filters -> new RandomHardLayers(filters.draw(), filters).dense());
    }

    /** An int8 dense layer with 50 KB of weights and more. */
    public static Function largeDense(long seed) {
        return drawn("large_dense", seed, filters -> new RandomHardLayers(filters.draw(), filters).largeDense());
    }

    /** A 1x1 convolution of int8 data with a given number of taps. */
    public static Function pointwise(long seed, int taps) {
        return drawn("pointwise", seed, filters -> filters.pointwise(taps));
    }

    /** A convolution of int8 data whose weights no small cache holds. */
    public static Function ofManyWeights(long seed) {
        return drawn("weights", seed, RandomFilters::manyWeights);
    }

    /** A convolution of 1x1 whose weights no RAM to spare holds. */
    public static Function largePointwise(long seed) {
        return drawn("large_pointwise", seed, RandomFilters::largePointwise);
    }

    /** A depthwise convolution and one of 1x1 whose weights no RAM to spare holds. */
    public static Function largeSeparable(long seed) {
        return drawn("large_separable", seed, RandomFilters::largeSeparable);
    }

    /** A convolution of float data whose neighbouring pixels lie 128 bytes apart. */
    public static Function ofManyFloats(long seed) {
        return drawn("many", seed, RandomFilters::ofManyFloats);
    }

    /** A convolution or depthwise convolution of float data. */
    public static Function ofFloats(long seed) {
        return drawn("floats", seed, RandomFilters::ofFloats);
    }

    /** A convolution of float data: of one group, of two, or of a group for each channel of the input, with one or more outputs of it. */
    public static Function ofGroupedFloats(long seed) {
        return drawn("grouped", seed, filters -> filters.convolution(false));
    }

    /** A layer with more padding than its windows are large: every third one of float data, the others of int8 data. */
    public static Function farPadded(long seed) {
        return drawn("far_padded", seed, seed % 3 == 0 ? RandomFilters::farPaddedFloats : RandomFilters::farPadded);
    }

    private static Function drawn(String kind, long seed, Consumer<RandomFilters> filter) {
        FunctionDraw draw = new FunctionDraw(seed);
        filter.accept(new RandomFilters(draw));
        return draw.function(kind + seed);
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

    /**
     * The same function with the rescalings to int8 that ONNX Runtime computes; scales with few bits, or a little
     * beside these, make many halves.
     */
    public static Function ofOnnxRuntime(Function function) {
        List<Binding> bindings = new ArrayList<>();
        for (Binding b : function.bindings()) {
            boolean isOfSums = b.args().get(0) instanceof Arg.Ref ref
                    && function.types().get(ref.id()).dtype() == DType.INT32
                    && b.op() instanceof TflRequantize
                    && b.type().dtype() == DType.INT8;
            bindings.add(isOfSums && arePositive(b.constant(1)) ? ofOnnxRuntime(b, (TflRequantize) b.op()) : b);
        }
        return new Function(function.name(), function.params(), bindings, function.results());
    }

    private static boolean arePositive(Constant multipliers) {
        return IntStream.range(0, multipliers.elements()).allMatch(i -> multipliers.integer(i) > 0);
    }

    private static Binding ofOnnxRuntime(Binding b, TflRequantize op) {
        float[] scales = new float[b.constant(1).elements()];
        for (int i = 0; i < scales.length; i++) {
            double exact = Math.scalb(
                    (double) b.constant(1).integer(i), (int) b.constant(2).integer(i) - 31);
            int few = Float.floatToIntBits((float) exact) & 0xFFF00000;
            int more = (int) (b.constant(1).integer(0) % 4) - 1;
            scales[i] = more > 1 ? (float) exact : Float.intBitsToFloat(few + more);
        }
        List<Arg> args = List.of(
                b.args().get(0),
                scales.length == 1 ? Constant.scalar(scales[0]) : Constant.vector(scales),
                Constant.scalar(op.inputZeroPoint()),
                Constant.scalar(1f),
                Constant.scalar(op.outputZeroPoint()));
        return new Binding(b.id(), new QnnRequantize(op.axis(), Rounding.ONNX, DType.INT8), args, b.type(), b.origin());
    }

    /** As {@link #input}; of floats, some are no numbers, infinite, -0, denormal or at the ends of their range, and some rows are equal. */
    public static Bytes special(TensorType type, long seed) {
        if (!type.dtype().isFloat()) {
            return input(type, seed);
        }
        Random random = new Random(~seed);
        ByteBuffer values = ByteBuffer.wrap(input(type, seed).toArray()).order(ByteOrder.LITTLE_ENDIAN);
        int row = type.shape().rank() == 0 ? 1 : Math.max(1, type.shape().dim(-1));
        int oneIn = 2 + random.nextInt(30);
        boolean isEqual = false;
        for (int i = 0; i < values.capacity() / Float.BYTES; i++) {
            isEqual = i % row == 0 ? random.nextInt(5) == 0 : isEqual;
            if (isEqual && i % row > 0) {
                values.putFloat(Float.BYTES * i, values.getFloat(Float.BYTES * (i - 1)));
            } else if (random.nextInt(oneIn) == 0) {
                values.putFloat(Float.BYTES * i, SPECIAL[random.nextInt(SPECIAL.length)]);
            }
        }
        return Bytes.wrap(values.array());
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
}
