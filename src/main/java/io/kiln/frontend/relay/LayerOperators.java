// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.base.DType;
import io.kiln.ir.op.Add;
import io.kiln.ir.op.AvgPool2d;
import io.kiln.ir.op.BiasAdd;
import io.kiln.ir.op.Clip;
import io.kiln.ir.op.Conv2d;
import io.kiln.ir.op.Copy;
import io.kiln.ir.op.Dense;
import io.kiln.ir.op.MaxPool2d;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.QnnAdd;
import io.kiln.ir.op.QnnConv2d;
import io.kiln.ir.op.QnnDense;
import io.kiln.ir.op.QnnDequantize;
import io.kiln.ir.op.QnnQuantize;
import io.kiln.ir.op.RefWrite;
import io.kiln.ir.op.Reshape;
import io.kiln.ir.op.Softmax;
import io.kiln.ir.op.TflRequantize;
import io.kiln.ir.op.TflSoftmax;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The layers of convolutional networks by their names in the text. What Relay gives a default for may be left out; that the arithmetic is TensorFlow Lite's
 * ({@code rounding="TFLITE"}) must be said where TVM's differs.
 */
final class LayerOperators {
    /** Keeps the arithmetic of windows within 32 bits. */
    private static final int MAX_WINDOW = (1 << 15) - 1;

    private static final int MAX = Integer.MAX_VALUE;
    private static final int MIN = Integer.MIN_VALUE;
    private static final Integer PAIR = 2;
    private static final Integer EDGES = 4;

    static final Map<String, Function<Attributes, Op>> ALL = Map.ofEntries(
            Map.entry("add", a -> new Add()),
            Map.entry("clip", a -> new Clip(a.real("a_min"), a.real("a_max"))),
            Map.entry("copy", a -> new Copy()),
            Map.entry("ref_write", a -> new RefWrite()),
            Map.entry("nn.avg_pool2d", LayerOperators::averagePool),
            Map.entry("nn.bias_add", a -> new BiasAdd(a.integer("axis", -4, 3, 1))),
            Map.entry("nn.conv2d", a -> {
                a.choice("out_dtype", "float32");
                return new Conv2d(window(a, "kernel_size"), groups(a), channels(a), kernelLayout(a));
            }),
            Map.entry("nn.dense", a -> {
                a.choice("out_dtype", "float32");
                return new Dense(a.integer("units", 1, MAX));
            }),
            Map.entry("nn.max_pool2d", a -> {
                a.choice("layout", "NHWC");
                return new MaxPool2d(window(a, "pool_size"));
            }),
            Map.entry("nn.softmax", a -> {
                a.integer("axis", -1, -1, -1);
                return new Softmax((float) a.real("beta", 1));
            }),
            Map.entry("qnn.add", a -> {
                a.choice("rounding", "TFLITE");
                return new QnnAdd();
            }),
            Map.entry("qnn.conv2d", a -> {
                a.choice("out_dtype", "int32");
                return new QnnConv2d(window(a, "kernel_size"), groups(a), channels(a), kernelLayout(a));
            }),
            Map.entry("qnn.dense", a -> {
                a.choice("out_dtype", "int32");
                return new QnnDense(a.integer("units", 1, MAX));
            }),
            Map.entry("qnn.dequantize", a -> new QnnDequantize()),
            Map.entry("qnn.quantize", a -> {
                a.choice("rounding", "TFLITE");
                return new QnnQuantize(outDtype(a));
            }),
            Map.entry("reshape", a -> new Reshape(new Shape(a.integers("newshape", 1, MAX)))),
            Map.entry("tfl.requantize", a -> {
                a.choice("rounding", "TFLITE");
                return new TflRequantize(
                        a.integer("axis", -4, 3),
                        a.integer("input_zero_point", MIN, MAX),
                        a.integer("output_zero_point", MIN, MAX),
                        outDtype(a));
            }),
            Map.entry("tfl.softmax", a -> {
                a.integer("axis", -1, -1, -1);
                return new TflSoftmax((float) a.real("beta"));
            }));

    private LayerOperators() {}

    private static Op averagePool(Attributes a) {
        a.choice("layout", "NHWC");
        a.choice("rounding", "TFLITE");
        a.integer("count_include_pad", 0, 0, 0);
        return new AvgPool2d(window(a, "pool_size"));
    }

    private static Window window(Attributes a, String kernel) {
        List<Integer> size = pair(a.integers(kernel, 1, MAX_WINDOW, PAIR));
        List<Integer> strides = pair(a.integers("strides", 1, MAX_WINDOW, List.of(1, 1), PAIR));
        List<Integer> dilation = pair(a.integers("dilation", 1, MAX_WINDOW, List.of(1, 1), PAIR));
        List<Integer> given = a.integers("padding", 0, MAX_WINDOW, List.of(0, 0), PAIR, EDGES);
        List<Integer> padding = given.size() == EDGES
                ? given
                : List.of(
                        pair(given).get(0),
                        pair(given).get(1),
                        pair(given).get(0),
                        pair(given).get(1));
        return new Window(
                size.get(0),
                size.get(1),
                strides.get(0),
                strides.get(1),
                dilation.get(0),
                dilation.get(1),
                padding.get(0),
                padding.get(1),
                padding.get(2),
                padding.get(3));
    }

    /** After a mistake, which is noted, any pair will do. */
    private static List<Integer> pair(List<Integer> values) {
        return values.size() == PAIR ? values : List.of(1, 1);
    }

    private static int groups(Attributes a) {
        return a.integer("groups", 1, MAX, 1);
    }

    private static int channels(Attributes a) {
        return a.integer("channels", 1, MAX);
    }

    private static String kernelLayout(Attributes a) {
        a.choice("data_layout", "NHWC");
        return a.choice("kernel_layout", "OHWI", "HWOI");
    }

    private static DType outDtype(Attributes a) {
        a.choice("out_dtype", DType.INT8.text());
        return DType.INT8;
    }
}
