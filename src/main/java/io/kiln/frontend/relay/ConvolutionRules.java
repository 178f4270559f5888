// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Conv2d;
import io.kiln.ir.op.QnnConv2d;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;

/** Convolutions in every layout of data and kernels that Relay's frontends print; they become NHWC with OHWI or HWOI. */
final class ConvolutionRules {
    private static final String NHWC = "NHWC";
    private static final String NCHW = "NCHW";

    private ConvolutionRules() {}

    /** {@code nn.conv2d} of float32. */
    static Value real(CallSite call) {
        call.arity(2);
        call.attributes().choiceOr("out_dtype", "float32", "float32", "");
        return convolution(call, false);
    }

    /** {@code qnn.conv2d}. */
    static Value quantized(CallSite call) {
        call.arity(6);
        return convolution(call, true);
    }

    private static Value convolution(CallSite call, boolean quantized) {
        Attributes attributes = call.attributes();
        boolean channelsLast =
                attributes.choiceOr("data_layout", NCHW, NHWC, NCHW).equals(NCHW);
        attributes.choiceOr("out_layout", "", "", channelsLast ? NCHW : NHWC);
        String kernelLayout = attributes.choiceOr("kernel_layout", "OIHW", "OHWI", "HWOI", "HWIO", "OIHW");
        int groups = attributes.integer("groups", 1, Integer.MAX_VALUE, 1);
        Value data = channelsLast ? Layouts.channelsLast(call, call.value(0)) : call.value(0);
        if (channelsLast != data.channelsLast()) {
            throw new IllegalArgumentException("the data is NCHW, but data_layout is NHWC");
        }
        TensorType held = call.type(data.arg());
        if (held.shape().rank() != 4 || data.flattened().isPresent()) {
            throw new IllegalArgumentException(
                    "the data, " + data.type().text() + ", has no height and width: expected rank 4");
        }
        int inputs = held.shape().dim(3);
        Kernel kernel = Kernel.of(call.value(1), kernelLayout, groups == inputs && groups > 1);
        int channels = attributes.integer("channels", 1, Integer.MAX_VALUE, kernel.outputs());
        Window window = Windows.of(attributes, "kernel_size", List.of(kernel.height(), kernel.width()));
        List<Arg> args = new ArrayList<>(List.of(data.arg(), kernel.arranged(channels, inputs, groups)));
        if (quantized) {
            args.add(ZeroPoints.scalar(call.plain(2)));
            args.add(ZeroPoints.scalar(call.plain(3)));
            args.add(call.plain(4));
            args.add(call.plain(5));
        }
        if (data.padding().isPresent()) {
            double zero = quantized && args.get(2) instanceof Constant point ? point.integer(0) : 0;
            window = Windows.padded(window, data.padding().get(), channelsLast, zero);
        }
        if (data.widened()) {
            Layouts.plain(call, data);
        }
        Arg result = quantized
                ? call.emit(
                        new QnnConv2d(window, groups, channels, kernel.layout(), LayerOperators.sumDtype(attributes)),
                        args)
                : call.emit(new Conv2d(window, groups, channels, kernel.layout()), args);
        TensorType type = call.type(result);
        return channelsLast
                ? Value.channelsLast(
                        result, new TensorType(Layouts.permuted(type.shape(), Layouts.TO_CHANNELS_FIRST), type.dtype()))
                : Value.plain(result, type);
    }

    /**
     * A convolution's weight as the text has it. A depthwise one may have its inputs and multiplier in two dimensions or in one; the
     * elements lie the same.
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

        Arg arranged(int channels, int inputs, int groups) {
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
            Constant arranged = Layouts.transpose(constant, axes);
            return new Constant(constant.name(), new TensorType(wanted, type.dtype()), arranged.data());
        }
    }
}
