// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.base.DType;
import io.kiln.ir.op.Conv2dTranspose;
import io.kiln.ir.op.Copy;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.QnnConv2dTranspose;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.TflRequantize;
import io.kiln.ir.op.TflSoftmax;
import io.kiln.ir.op.TransposedWindow;
import io.kiln.ir.op.Window;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/** What {@link Rules} has no rules for of the layers of convolutional networks: operators of our own, transposed convolutions and copies. */
final class LayerOperators {
    private static final int MAX = Integer.MAX_VALUE;
    private static final int MIN = Integer.MIN_VALUE;

    static final Map<String, Function<Attributes, Op>> ALL = Map.ofEntries(
            Map.entry("copy", a -> new Copy()),
            Map.entry("nn.conv2d_transpose", a -> {
                a.choice("out_dtype", "float32");
                return new Conv2dTranspose(transposed(a), a.integer("channels", 1, MAX));
            }),
            Map.entry(
                    "qnn.conv2d_transpose",
                    a -> new QnnConv2dTranspose(transposed(a), a.integer("channels", 1, MAX), sumDtype(a))),
            Map.entry("tfl.requantize", a -> {
                Rounding rounding = Rounding.valueOf(a.choice("rounding", "TFLITE", "UPWARD", "TONEAREST"));
                return new TflRequantize(
                        a.integer("axis", -4, 3),
                        a.integer("input_zero_point", MIN, MAX),
                        a.integer("output_zero_point", MIN, MAX),
                        outDtype(a),
                        rounding);
            }),
            Map.entry("tfl.softmax", a -> {
                a.integer("axis", -1, -1, -1);
                return new TflSoftmax(
                        (float) a.real("beta"),
                        a.has("out_dtype") ? a.dtype("out_dtype", DType.INT8, DType.INT16) : DType.INT8);
            }));

    private LayerOperators() {}

    private static TransposedWindow transposed(Attributes a) {
        a.choice("data_layout", "NHWC");
        a.choice("kernel_layout", "OHWI");
        List<Integer> more = a.integers("output_padding", 0, Windows.MAX, List.of(0, 0), 2);
        Window window = Windows.of(a, "kernel_size", List.of());
        return new TransposedWindow(window, more.get(0), more.size() < 2 ? 0 : more.get(1));
    }

    /** Type that a layer of quantized weights sums in, int32 if nothing is said. */
    static DType sumDtype(Attributes a) {
        String text = a.choiceOr("out_dtype", "int32", "int32", "int64", "float32", "");
        return text.isEmpty() ? DType.INT32 : DType.valueOf(text.toUpperCase(Locale.ROOT));
    }

    private static DType outDtype(Attributes a) {
        return a.dtype("out_dtype", DType.INT8, DType.INT16, DType.INT32, DType.UINT8);
    }
}
