// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import io.kiln.base.DType;
import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.CallSite;
import io.kiln.frontend.relay.value.Value;
import io.kiln.frontend.relay.value.Value.Constants;
import io.kiln.frontend.relay.value.Value.Padding;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Convolutions in all layouts of data and kernels that Relay's frontends print, which become NHWC with OHWI or HWOI; and fully connected layers. */
final class ConvolutionRules {
    private static final String NHWC = "NHWC";
    private static final String NCHW = "NCHW";

    private ConvolutionRules() {}

    /** {@code nn.conv2d} of float32. */
    static Value real(CallSite call) {
        boolean isFloat = call.value(0).type().dtype().isFloat();
        if (isFloat) {
            call.attributes().choiceOr("out_dtype", "float32", "float32", "");
        } else {
            call.attributes().choice("out_dtype", "int32");
        }
        return isFloat ? convolution(call, false) : integers(call);
    }

    /**
     * {@code nn.conv2d} of integers, into which TVM expands {@code qnn.conv2d}. A border other than 0 is treated as the
     * zero point, which is subtracted; a bias adds back what that takes from every sum.
     */
    private static Value integers(CallSite call) {
        IntegerData data = IntegerData.of(call, call.value(0));
        IntegerWeight weight = IntegerWeight.of(call.value(1));
        Window own = window(call, 1, 1);
        double border = data.value().padding().map(Padding::value).orElse(0.0);
        double zeroPoint = data.zeroPoint() + border;
        boolean takesBorder =
                border == 0 || (!own.isPadded() && zeroPoint >= Byte.MIN_VALUE && zeroPoint <= Byte.MAX_VALUE);
        Value held = takesBorder ? data.value() : call.whole(data.value());
        Frame frame = Frame.of(call, held, weight.value());
        Window window = takesBorder && held.padding().isPresent()
                ? PoolRules.padded(frame.window(), held.padding().get(), frame.channelsLast(), border)
                : frame.window();
        int zero = takesBorder ? (int) zeroPoint : data.zeroPoint();
        Arg kernel = frame.arranged(call);
        Arg sums = call.emit(
                new QnnConv2d(
                        window, frame.groups(), frame.channels(), frame.kernel().layout(), DType.INT32),
                IntegerData.arguments(List.of(frame.data().arg(), kernel), zero, weight.zeroPoint()));
        int added = zero - data.zeroPoint();
        Arg result = added == 0
                ? sums
                : call.emit(new BiasAdd(-1), List.of(sums, frame.taps(kernel, weight.zeroPoint(), added)));
        return frame.result(call, result);
    }

    private static Window window(CallSite call, int height, int width) {
        return Window.read(call.attributes(), "kernel_size", List.of(height, width));
    }

    static Value quantized(CallSite call) {
        return convolution(call, true);
    }

    private static Value convolution(CallSite call, boolean quantized) {
        Frame frame = Frame.of(call, call.value(0), call.value(1));
        Value data = frame.data();
        Window window = frame.window();
        List<Arg> args = new ArrayList<>(List.of(data.arg(), frame.arranged(call)));
        if (quantized) {
            args.add(Constants.commonZeroPoint(call.plain(2)));
            args.add(Constants.commonZeroPoint(call.plain(3)));
            args.add(call.plain(4));
            args.add(call.plain(5));
        }
        if (data.padding().isPresent()) {
            double zero = quantized && args.get(2) instanceof Constant point ? point.integer(0) : 0;
            window = PoolRules.padded(window, data.padding().get(), frame.channelsLast(), zero);
        }
        if (data.widened()) {
            throw new IllegalArgumentException("its data is cast from int8 to int32: expected int8");
        }
        Arg result = quantized
                ? call.emit(
                        new QnnConv2d(
                                window,
                                frame.groups(),
                                frame.channels(),
                                frame.kernel().layout(),
                                Attribute.sumType(call.attributes())),
                        args)
                : call.emit(
                        new Conv2d(
                                window,
                                frame.groups(),
                                frame.channels(),
                                frame.kernel().layout()),
                        args);
        return frame.result(call, result);
    }

    /**
     * The attributes and types of a convolution.
     *
     * @param data the data in NHWC
     * @param channelsLast whether the data is NCHW in the text
     * @param inputs channels of the data
     */
    private record Frame(
            Value data, boolean channelsLast, Kernel kernel, int inputs, int groups, int channels, Window window) {
        static Frame of(CallSite call, Value given, Value weight) {
            Attributes attributes = call.attributes();
            boolean channelsLast =
                    attributes.choiceOr("data_layout", NCHW, NHWC, NCHW).equals(NCHW);
            attributes.choiceOr("out_layout", "", "", channelsLast ? NCHW : NHWC);
            String kernelLayout = attributes.choiceOr("kernel_layout", "OIHW", "OHWI", "HWOI", "HWIO", "OIHW");
            int groups = attributes.integer("groups", 1, Integer.MAX_VALUE, 1);
            Value data = channelsLast ? call.channelsLast(given) : given;
            if (channelsLast != data.channelsLast()) {
                throw new IllegalArgumentException("the data is NCHW, but data_layout is NHWC");
            }
            TensorType held = call.type(data.arg());
            if (held.shape().rank() != 4 || data.flattened().isPresent()) {
                throw new IllegalArgumentException(
                        "the data, " + data.type().text() + ", has no height and width: expected rank 4");
            }
            int inputs = held.shape().dim(3);
            Kernel kernel = Kernel.of(weight, kernelLayout, groups == inputs && groups > 1);
            int channels = attributes.integer("channels", 1, Integer.MAX_VALUE, kernel.outputs());
            return new Frame(
                    data,
                    channelsLast,
                    kernel,
                    inputs,
                    groups,
                    channels,
                    ConvolutionRules.window(call, kernel.height(), kernel.width()));
        }

        Arg arranged(CallSite call) {
            return kernel.arranged(call, channels, inputs, groups);
        }

        Value result(CallSite call, Arg result) {
            TensorType type = call.type(result);
            return channelsLast
                    ? Value.channelsLast(
                            result, new TensorType(Value.permuted(type.shape(), Value.TO_CHANNELS_FIRST), type.dtype()))
                    : Value.plain(result, type);
        }

        /** The sum of each output channel's weights, times a factor. */
        Constant taps(Arg weight, int zeroPoint, int factor) {
            if (!(weight instanceof Constant constant)) {
                throw new IllegalArgumentException("nn.pad before it adds " + factor
                        + ", and the weight is not constant: expected a border of 0, or a constant weight");
            }
            int[] sums = new int[channels];
            int each = constant.elements() / channels;
            for (int i = 0; i < constant.elements(); i++) {
                sums[kernel.depthwise() ? i % channels : i / each] += (int) constant.integer(i) - zeroPoint;
            }
            for (int i = 0; i < channels; i++) {
                sums[i] *= factor;
            }
            return Constant.vector(sums);
        }
    }

    /**
     * A convolution's weight as in the text. A depthwise weight may have its inputs and multiplier in two dimensions or
     * in one; the order of elements is the same.
     */
    private record Kernel(Arg arg, TensorType type, String from, boolean depthwise) {
        static Kernel of(Value value, String layout, boolean depthwise) {
            if (value.type().shape().rank() != 4 || !value.isPlain()) {
                throw new IllegalArgumentException(
                        "weight must have rank 4, not " + value.type().shape().text());
            }
            return new Kernel(value.arg(), value.type(), layout, depthwise);
        }

        private int dim(char letter) {
            return type.shape().dim(from.indexOf(letter));
        }

        int height() {
            return dim('H');
        }

        int width() {
            return dim('W');
        }

        int outputs() {
            return depthwise ? dim('O') * dim('I') : dim('O');
        }

        String layout() {
            return depthwise ? "HWOI" : "OHWI";
        }

        Arg arranged(CallSite call, int channels, int inputs, int groups) {
            Shape wanted = depthwise
                    ? Shape.of(height(), width(), inputs, Math.max(1, channels / inputs))
                    : Shape.of(channels, height(), width(), Math.max(1, inputs / groups));
            if (from.equals(layout()) && type.shape().equals(wanted)) {
                return arg;
            }
            if (type.shape().elements() != wanted.elements() || (!depthwise && dim('O') != channels)) {
                throw new IllegalArgumentException("weight (" + from + ") "
                        + type.shape().text() + " does not fit " + inputs + " input and " + channels
                        + " output channels");
            }
            if (!(arg instanceof Constant constant) || type.dtype() == DType.BOOL) {
                throw new IllegalArgumentException("argument 2 is not constant; it must be meta[relay.Constant][n] or a"
                        + " parameter of the .params file");
            }
            String to = depthwise && from.equals("HWIO") ? "HWIO" : layout();
            List<Integer> axes = to.chars().mapToObj(from::indexOf).toList();
            Constant arranged = call.transpose(constant, axes);
            return new Constant(constant.name(), new TensorType(wanted, type.dtype()), arranged.data());
        }
    }

    /** {@code nn.dense} of float32. */
    static Value realDense(CallSite call) {
        if (!call.value(0).type().dtype().isFloat()) {
            return denseOfIntegers(call);
        }
        call.attributes().choiceOr("out_dtype", "float32", "float32", "");
        return call.compute(new Dense(units(call)), dataAndWeight(call));
    }

    static Value quantizedDense(CallSite call) {
        List<Arg> args = new ArrayList<>(dataAndWeight(call));
        args.add(Constants.commonZeroPoint(call.plain(2)));
        args.add(Constants.commonZeroPoint(call.plain(3)));
        args.add(call.plain(4));
        args.add(call.plain(5));
        return call.compute(new QnnDense(units(call), Attribute.sumType(call.attributes())), args);
    }

    /** {@code nn.dense} of integers, into which TVM expands {@code qnn.dense}. */
    private static Value denseOfIntegers(CallSite call) {
        call.attributes().choiceOr("out_dtype", "int32", "int32", "");
        IntegerData data = IntegerData.of(call, call.value(0));
        IntegerWeight weight = IntegerWeight.of(call.value(1));
        List<Arg> operands = dataAndWeight(call, data.value(), weight.value());
        return call.compute(
                new QnnDense(units(call), DType.INT32),
                IntegerData.arguments(operands, data.zeroPoint(), weight.zeroPoint()));
    }

    private static int units(CallSite call) {
        Shape weight = call.value(1).type().shape();
        int rows = weight.rank() == 0 ? 1 : weight.dim(0);
        return call.attributes().integer("units", 1, Integer.MAX_VALUE, rows);
    }

    /** Data flattened from NCHW in the text is in NHWC order here, so the weight's columns are reordered. */
    private static List<Arg> dataAndWeight(CallSite call) {
        return dataAndWeight(call, call.value(0), call.value(1));
    }

    private static List<Arg> dataAndWeight(CallSite call, Value data, Value weights) {
        boolean reordered = data.flattened().filter(s -> !Value.isSameOrder(s)).isPresent();
        if (!reordered || !data.isWhole()) {
            return List.of(call.plain(data), call.plain(weights));
        }
        Shape nchw = data.flattened().orElseThrow();
        if (!(weights.arg() instanceof Constant weight) || !weights.isPlain()) {
            throw new IllegalArgumentException("the weight is not constant, and the data flattened NCHW");
        }
        Shape shape = weight.type().shape();
        int columns = nchw.dim(1) * nchw.dim(2) * nchw.dim(3);
        if (shape.rank() != 2 || shape.dim(1) != columns) {
            throw new IllegalArgumentException("weight " + shape.text() + " does not fit data "
                    + data.type().shape().text());
        }
        Constant cube = new Constant(
                weight.name(),
                new TensorType(
                        Shape.of(shape.dim(0), nchw.dim(1), nchw.dim(2), nchw.dim(3)),
                        weight.type().dtype()),
                weight.data());
        Constant arranged = call.transpose(cube, Value.TO_CHANNELS_LAST);
        return List.of(data.arg(), new Constant(weight.name(), weight.type(), arranged.data()));
    }

    /** The NHWC axis of an NCHW axis. */
    static int heldAxis(int axis) {
        return Value.TO_CHANNELS_LAST.indexOf(axis < 0 ? axis + 4 : axis);
    }

    /**
     * The data of a layer that sums integers. TVM widens int8 and subtracts its zero point before the layer; Kiln's layer
     * does so itself.
     *
     * @param value int8 or int16
     * @param zeroPoint the number subtracted from it
     */
    private record IntegerData(Value value, int zeroPoint) {
        /** Largest magnitude that int8 and uint8 values less a zero point are known to have. */
        private static final int MOST_CENTRED = 1 << 10;

        /** Data of any integer type that is known to fit into int16. */
        static IntegerData of(CallSite call, Value given) {
            Value data = given.widened()
                    ? given.asWidened(false, new TensorType(given.type().shape(), DType.INT8))
                    : given;
            Optional<Binding> producer = call.producer(data.arg());
            Optional<Constant> subtracted = producer.filter(b -> b.op().equals(new Binary(Binary.Kind.SUBTRACT))
                            && b.args().get(1) instanceof Constant)
                    .map(b -> b.constant(1))
                    .filter(c ->
                            c.elements() == 1 && c.type().dtype().isInteger() && Math.abs(c.integer(0)) < MOST_CENTRED);
            Optional<Binding> cast = (subtracted.isPresent()
                            ? call.producer(producer.orElseThrow().args().get(0))
                            : producer)
                    .filter(b -> b.op().equals(new Cast(DType.INT16)) || b.op().equals(new Cast(DType.INT32)));
            DType from = cast.map(b -> call.type(b.args().get(0)).dtype()).orElse(DType.INT64);
            long zeroPoint = subtracted.map(c -> c.integer(0)).orElse(0L);
            if (from == DType.INT8 && zeroPoint >= Byte.MIN_VALUE && zeroPoint <= Byte.MAX_VALUE) {
                call.supersede(data.arg());
                subtracted.ifPresent(
                        c -> call.supersede(producer.orElseThrow().args().get(0)));
                TensorType type = new TensorType(data.type().shape(), DType.INT8);
                return new IntegerData(data.with(cast.orElseThrow().args().get(0), type), (int) zeroPoint);
            }
            DType own = data.type().dtype();
            if (own == DType.INT8 || own == DType.INT16) {
                return new IntegerData(data, 0);
            }
            if (own == DType.UINT8 || (own == DType.INT32 && from.bytes() == 1)) {
                Arg narrow = call.emit(new Cast(DType.INT16), List.of(data.arg()));
                return new IntegerData(
                        data.with(narrow, new TensorType(data.type().shape(), DType.INT16)), 0);
            }
            throw new IllegalArgumentException("the data, " + own.text()
                    + ", is not supported: expected int8, uint8 or int16, or a cast of these");
        }

        /** Arguments of a quantized layer without scales. */
        static List<Arg> arguments(List<Arg> dataAndWeight, int zeroPoint, int kernelZeroPoint) {
            List<Arg> args = new ArrayList<>(dataAndWeight);
            args.add(Constant.scalar(zeroPoint));
            args.add(Constant.scalar(kernelZeroPoint));
            args.add(Constant.scalar(1f));
            args.add(Constant.scalar(1f));
            return args;
        }
    }

    /**
     * The weight of a layer that sums integers, as int8 and a zero point.
     *
     * @param value int8
     * @param zeroPoint the number subtracted from it
     */
    private record IntegerWeight(Value value, int zeroPoint) {
        /** Weights of any integer type whose elements lie within 256 of each other. */
        static IntegerWeight of(Value weight) {
            if (weight.type().dtype() == DType.INT8) {
                return new IntegerWeight(weight, 0);
            }
            if (!(weight.arg() instanceof Constant constant)
                    || !weight.isPlain()
                    || !weight.type().dtype().isInteger()) {
                throw new IllegalArgumentException(
                        "the weight, " + weight.type().text() + ", is not constant integers");
            }
            long least = Long.MAX_VALUE;
            long most = Long.MIN_VALUE;
            for (int i = 0; i < constant.elements(); i++) {
                least = Math.min(least, constant.integer(i));
                most = Math.max(most, constant.integer(i));
            }
            boolean fits = least >= Byte.MIN_VALUE && most <= Byte.MAX_VALUE;
            long zeroPoint = fits ? 0 : Byte.MIN_VALUE - least;
            if (most + zeroPoint > Byte.MAX_VALUE || zeroPoint < Byte.MIN_VALUE || zeroPoint > Byte.MAX_VALUE) {
                throw new IllegalArgumentException("the weights lie between " + least + " and " + most
                        + ": expected a range that int8 with a zero point can hold");
            }
            Constant shifted = Constant.integers(
                    constant.name(),
                    new TensorType(constant.type().shape(), DType.INT8),
                    i -> constant.integer(i) + zeroPoint);
            return new IntegerWeight(Value.plain(shifted, shifted.type()), (int) zeroPoint);
        }
    }
}
