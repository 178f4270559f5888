// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import static java.util.Map.entry;

import io.kiln.base.DType;
import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.Rule;
import io.kiln.ir.arith.FloatPrecision;
import io.kiln.ir.op.OnnxForm;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.OnnxRequantize;
import io.kiln.ir.op.element.TflRealRequantize;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.layer.Conv2dTranspose;
import io.kiln.ir.op.layer.OnnxAveragePool;
import io.kiln.ir.op.layer.OnnxResize2d;
import io.kiln.ir.op.layer.OnnxSoftmax;
import io.kiln.ir.op.layer.QnnConv2dTranspose;
import io.kiln.ir.op.layer.TflSoftmax;
import io.kiln.ir.op.layer.TransposedWindow;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Layers of convolutional networks, and the rescaling of their sums. */
final class LayerRules {
    private static final int MAX = Integer.MAX_VALUE;
    private static final int MIN = Integer.MIN_VALUE;

    static final Map<String, Rule> ALL = Map.ofEntries(
            entry("fixed_point_multiply", FixedPointRules::perTensor),
            entry("fixed_point_multiply_per_axis", FixedPointRules::perAxis),
            entry("nn.avg_pool2d", PoolRules::average),
            entry("nn.bias_add", SumRules::biasAdd),
            entry("nn.conv2d", ConvolutionRules::real),
            entry("nn.conv2d_transpose", Rule.of(LayerRules::transposedReal)),
            entry("nn.dense", DenseRules::real),
            entry("nn.global_avg_pool2d", PoolRules::globalAverage),
            entry("nn.max_pool2d", PoolRules::maximum),
            entry("nn.softmax", ArithmeticRules::softmax),
            entry("onnx.avg_pool2d", Rule.of(LayerRules::onnxPool)),
            entry("onnx.requantize", Rule.of(a -> new OnnxRequantize())),
            entry("onnx.resize2d", Rule.of(a -> new OnnxResize2d())),
            entry("onnx.softmax", Rule.of(LayerRules::onnxSoftmax)),
            entry("qnn.conv2d", ConvolutionRules::quantized),
            entry("qnn.conv2d_transpose", Rule.of(LayerRules::transposedQuantized)),
            entry("qnn.dense", DenseRules::quantized),
            entry("qnn.requantize", ArithmeticRules::requantize),
            entry("tfl.requantize", Rule.of(LayerRules::requantize)),
            entry("tfl.requantize_real", Rule.of(LayerRules::requantizeReal)),
            entry("tfl.softmax", Rule.of(LayerRules::softmax)));

    private LayerRules() {}

    private static Op transposedReal(Attributes a) {
        a.choice("out_dtype", "float32");
        return new Conv2dTranspose(transposed(a), a.integer("channels", 1, MAX));
    }

    private static Op transposedQuantized(Attributes a) {
        return new QnnConv2dTranspose(transposed(a), a.integer("channels", 1, MAX), sumDtype(a));
    }

    private static Op requantize(Attributes a) {
        Rounding rounding = Rounding.valueOf(a.choice("rounding", "TFLITE", "UPWARD", "TONEAREST"));
        return new TflRequantize(
                a.integer("axis", -4, 3),
                a.integer("input_zero_point", MIN, MAX),
                a.integer("output_zero_point", MIN, MAX),
                a.dtype("out_dtype", DType.INT8, DType.INT16, DType.INT32, DType.UINT8),
                rounding);
    }

    private static Op requantizeReal(Attributes a) {
        DType outDtype = a.dtype("out_dtype", DType.INT8, DType.INT16);
        return new TflRealRequantize(outDtype, FloatPrecision.valueOf(a.choice("precision", "DOUBLE", "SINGLE")));
    }

    private static Op softmax(Attributes a) {
        a.integer("axis", -1, -1, -1);
        return new TflSoftmax(
                (float) a.real("beta"),
                a.has("out_dtype") ? a.dtype("out_dtype", DType.INT8, DType.INT16) : DType.INT8,
                FloatPrecision.valueOf(a.choiceOr("tables", "SINGLE", "SINGLE", "DOUBLE")));
    }

    private static Op onnxSoftmax(Attributes a) {
        a.integer("axis", -1, -1, -1);
        return new OnnxSoftmax(onnxForm(a), a.truth("log", false));
    }

    private static Op onnxPool(Attributes a) {
        String order = a.choice("order", OnnxAveragePool.Order.texts().toArray(String[]::new));
        return new OnnxAveragePool(
                Windows.of(a, "pool_size", List.of()),
                OnnxAveragePool.Order.valueOf(order.toUpperCase(Locale.ROOT)),
                onnxForm(a));
    }

    private static OnnxForm onnxForm(Attributes a) {
        return OnnxForm.valueOf(
                a.choice("form", OnnxForm.texts().toArray(String[]::new)).toUpperCase(Locale.ROOT));
    }

    private static TransposedWindow transposed(Attributes a) {
        a.choice("data_layout", "NHWC");
        a.choice("kernel_layout", "OHWI");
        List<Integer> more = a.integers("output_padding", 0, Windows.MAX, List.of(0, 0), 2);
        Window window = Windows.of(a, "kernel_size", List.of());
        return new TransposedWindow(window, more.get(0), more.size() < 2 ? 0 : more.get(1));
    }

    /** Type in which a layer with quantized weights sums: {@code out_dtype}, int32 if it is absent or empty. */
    static DType sumDtype(Attributes a) {
        String text = a.choiceOr("out_dtype", "int32", "int32", "int64", "float32", "");
        return text.isEmpty() ? DType.INT32 : DType.valueOf(text.toUpperCase(Locale.ROOT));
    }
}
