// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.value;

import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Optional;

/** Converts between NCHW and NHWC, and between the value in the text and the value in the function. */
public final class Layouts {
    public static final List<Integer> TO_CHANNELS_LAST = List.of(0, 2, 3, 1);
    public static final List<Integer> TO_CHANNELS_FIRST = List.of(0, 3, 1, 2);

    private static final String CONVERT = "it would have to be transposed at run time; in TVM, run"
            + " relay.transform.ConvertLayout({\"qnn.conv2d\": [\"NHWC\", \"default\"], \"nn.conv2d\": [\"NHWC\","
            + " \"default\"]}) and print again";

    private Layouts() {}

    /** The value in the layout and type of the text. */
    public static Arg plain(CallSite call, Value any) {
        Value value = whole(call, any);
        if (value.isSpread()) {
            return call.moved(new BroadcastTo(value.type().shape()), (Constant) value.arg());
        }
        if (value.isPlain()) {
            return value.arg();
        }
        Shape nchw = value.flattened().orElse(value.type().shape());
        if (!isSameOrder(nchw)) {
            Arg image = reshape(call, value.arg(), permuted(nchw, TO_CHANNELS_LAST));
            Arg first = call.emit(new Transpose(TO_CHANNELS_FIRST), List.of(image));
            return reshape(call, first, value.type().shape());
        }
        return reshape(call, value.arg(), value.type().shape());
    }

    /**
     * The value with its padding and in its own type, both of which are computed unless a window has absorbed them; the order of dimensions stays.
     */
    public static Value whole(CallSite call, Value value) {
        Arg arg = value.arg();
        if (value.padding().isPresent()) {
            Value.Padding border = value.padding().orElseThrow();
            List<List<Integer>> widths = border.widths();
            arg = padded(
                    call,
                    arg,
                    value.channelsLast()
                            ? new Value.Padding(
                                    TO_CHANNELS_LAST.stream().map(widths::get).toList(), border.value())
                            : border);
        }
        if (value.widened()) {
            arg = call.emit(new Cast(value.type().dtype()), List.of(arg));
        }
        return value.isWhole()
                ? value
                : new Value(arg, value.type(), value.channelsLast(), value.flattened(), Optional.empty(), false);
    }

    /** A value with a computed border around it. */
    public static Arg padded(CallSite call, Arg data, Value.Padding padding) {
        List<Integer> before =
                padding.widths().stream().map(pair -> pair.get(0)).toList();
        List<Integer> after = padding.widths().stream().map(pair -> pair.get(1)).toList();
        Constant border = Constants.scalar(padding.value(), call.type(data).dtype());
        return call.emit(new Pad(before, after), List.of(data, border));
    }

    /** A value of rank 4 that is NCHW in the text, as NHWC. */
    public static Value channelsLast(CallSite call, Value value) {
        if (value.channelsLast()) {
            return value;
        }
        if (value.isSpread()) {
            return channelsLast(call, Value.plain(plain(call, value), value.type()));
        }
        Shape nchw = call.type(value.arg()).shape();
        if (nchw.rank() != 4 || value.flattened().isPresent()) {
            throw new IllegalArgumentException(
                    "the data, " + value.type().text() + ", is not NCHW, which data_layout says or leaves unsaid");
        }
        Shape nhwc = permuted(nchw, TO_CHANNELS_LAST);
        Arg arg;
        if (value.arg() instanceof Constant constant) {
            arg = transpose(call, constant, TO_CHANNELS_LAST);
        } else if (isSameOrder(nchw)) {
            arg = reshape(call, value.arg(), nhwc);
        } else {
            throw new IllegalArgumentException("the data, " + value.type().text() + ", is NCHW: " + CONVERT);
        }
        return new Value(arg, value.type(), true, value.flattened(), value.padding(), value.widened());
    }

    /** Whether NCHW and NHWC have the same order of elements. */
    public static boolean isSameOrder(Shape nchw) {
        return nchw.dim(1) == 1 || nchw.dim(2) * nchw.dim(3) == 1;
    }

    public static Arg reshape(CallSite call, Arg arg, Shape shape) {
        if (arg instanceof Constant constant) {
            return new Constant(
                    constant.name(), new TensorType(shape, constant.type().dtype()), constant.data());
        }
        return call.type(arg).shape().equals(shape) ? arg : call.emit(new Reshape(shape), List.of(arg));
    }

    public static Shape permuted(Shape shape, List<Integer> axes) {
        return new Shape(axes.stream().map(shape::dim).toList());
    }

    /** A constant whose dimension {@code i} is dimension {@code axes[i]} of another. */
    public static Constant transpose(CallSite call, Constant constant, List<Integer> axes) {
        return call.moved(new Transpose(axes), constant);
    }
}
