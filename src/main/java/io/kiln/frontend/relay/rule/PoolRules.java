// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import io.kiln.base.DType;
import io.kiln.frontend.relay.value.CallSite;
import io.kiln.frontend.relay.value.Value;
import io.kiln.frontend.relay.value.Value.Constants;
import io.kiln.frontend.relay.value.Value.Padding;
import io.kiln.ir.Arg;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Pools, and the operators that frontends put around them. */
final class PoolRules {
    private PoolRules() {}

    static Value maximum(CallSite call) {
        Value data = image(call);
        Window window = window(call);
        if (data.padding().isPresent()) {
            DType dtype = data.type().dtype();
            double least = dtype.isFloat() ? -Float.MAX_VALUE : dtype.min();
            window = padded(window, data.padding().get(), data.channelsLast(), least);
        }
        if (data.widened()) {
            call.plain(data);
        }
        return pool(call, data, new MaxPool2d(window));
    }

    /**
     * {@code nn.avg_pool2d}. In TensorFlow Lite's arithmetic if an attribute says so; otherwise integers in the text
     * are int32, cast from int8, and the mean is truncated.
     */
    static Value average(CallSite call) {
        Value data = image(call);
        Window window = window(call);
        boolean countsPadding = call.attributes().truth("count_include_pad", false);
        if (countsPadding && window.isPadded()) {
            throw new IllegalArgumentException("padding that counts (count_include_pad) is not supported");
        }
        return average(call, data, window);
    }

    static Value globalAverage(CallSite call) {
        Value data = image(call);
        Shape held = call.type(data.arg()).shape();
        return average(call, data, Window.of(held.dim(1), held.dim(2)));
    }

    private static Value average(CallSite call, Value data, Window window) {
        if (data.padding().isPresent()) {
            return average(call, call.whole(data), window);
        }
        boolean isFloat = data.type().dtype().isFloat();
        String rounding = call.attributes().choiceOr("rounding", "", "TFLITE", "TRUNCATE", "UPWARD");
        boolean isWord = data.type().dtype() == DType.INT32;
        if (!isFloat && !isWord && rounding.isEmpty()) {
            throw new IllegalArgumentException(
                    "the mean of " + data.type().dtype().text()
                            + " would overflow in TVM: expected a cast from int8 to int32 before it");
        }
        String implied = isWord ? "TRUNCATE" : "TFLITE";
        return pool(call, data, new AvgPool2d(window, Rounding.valueOf(rounding.isEmpty() ? implied : rounding)));
    }

    /** The data in NHWC, whatever its layout in the text. */
    private static Value image(CallSite call) {
        String layout = call.attributes().choiceOr("layout", "NCHW", "NHWC", "NCHW");
        call.attributes().choiceOr("out_layout", "", "", layout);
        Value data = layout.equals("NCHW") ? call.channelsLast(call.value(0)) : call.value(0);
        if (data.type().shape().rank() != 4 || data.flattened().isPresent()) {
            throw new IllegalArgumentException(
                    "data must have rank 4, not " + data.type().shape().text());
        }
        if (layout.equals("NHWC") && data.channelsLast()) {
            throw new IllegalArgumentException("the data is NCHW, but layout is NHWC");
        }
        return data;
    }

    private static Window window(CallSite call) {
        if (call.attributes().truth("ceil_mode", false)) {
            throw new IllegalArgumentException("ceil_mode is not supported; pad at the bottom and right instead");
        }
        return Window.read(call.attributes(), "pool_size", List.of());
    }

    private static Value pool(CallSite call, Value data, Op op) {
        Arg result = call.emit(op, List.of(data.arg()));
        Shape held = call.type(result).shape();
        Shape shape = data.channelsLast() ? Value.permuted(held, Value.TO_CHANNELS_FIRST) : held;
        TensorType type = new TensorType(shape, data.type().dtype());
        return new Value(result, type, data.channelsLast(), Optional.empty(), Optional.empty(), data.widened());
    }

    /** {@code nn.pad} with a constant; the window that reads it absorbs it. */
    static Value pad(CallSite call) {
        Value data = call.value(0);
        call.attributes().choiceOr("pad_mode", "constant", "constant");
        List<List<Integer>> widths = call.attributes().pairs("pad_width", 0, Window.MOST);
        double value = call.args().size() > 1
                ? Constants.number(call.constant(1))
                : call.attributes().real("pad_value", 0);
        Shape shape = data.type().shape();
        boolean fitsWindow = shape.rank() == 4 && widths.size() == 4;
        if (call.isOwn() || !fitsWindow || data.padding().isPresent() || data.widened() || data.isSpread()) {
            Arg padded = call.padded(call.plain(data), new Value.Padding(widths, value));
            return call.plain(padded);
        }
        List<Integer> dims = new ArrayList<>();
        for (int i = 0; i < widths.size(); i++) {
            dims.add(shape.dim(i) + widths.get(i).get(0) + widths.get(i).get(1));
        }
        return data.padded(
                new Value.Padding(widths, value),
                new TensorType(new Shape(dims), data.type().dtype()));
    }

    /**
     * The window, with a border's rows and columns added to its own padding.
     *
     * @param isNchw whether the border's dimensions are NCHW
     * @param ownPadding the value of the window's own padding
     */
    static Window padded(Window w, Padding border, boolean isNchw, double ownPadding) {
        List<Integer> rows = border.widths().get(isNchw ? 2 : 1);
        List<Integer> columns = border.widths().get(isNchw ? 3 : 2);
        List<Integer> batch = border.widths().get(0);
        List<Integer> channels = border.widths().get(isNchw ? 1 : 3);
        if (Stream.of(batch, channels).flatMap(List::stream).anyMatch(width -> width > 0)) {
            throw new IllegalArgumentException("nn.pad before it pads batch or channels: expected height and width");
        }
        if (border.value() != ownPadding) {
            throw new IllegalArgumentException("nn.pad before it adds " + border.value() + ", its own padding "
                    + ownPadding + "; both must be the same");
        }
        return Window.of(w.kernelH(), w.kernelW())
                .strided(w.strideH(), w.strideW())
                .dilated(w.dilationH(), w.dilationW())
                .padded(
                        w.padTop() + rows.get(0),
                        w.padLeft() + columns.get(0),
                        w.padBottom() + rows.get(1),
                        w.padRight() + columns.get(1));
    }
}
