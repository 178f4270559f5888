// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.network;

import static io.kiln.frontend.onnx.model.ElementType.FLOAT;
import static io.kiln.frontend.onnx.model.ElementType.UINT8;

import io.kiln.base.Bytes;
import io.kiln.frontend.onnx.ModelBuilder;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Small networks with the nodes that exporters write for usual architectures. */
final class ExportedNetworks {
    private final ModelBuilder model;
    private final Random random = new Random(1);
    private int values;

    private ExportedNetworks(int opset) {
        this.model = new ModelBuilder(opset);
    }

    /** Networks by name. */
    static Map<String, Bytes> all() {
        Map<String, Bytes> all = new LinkedHashMap<>();
        all.put("inverted residuals", new ExportedNetworks(13).invertedResiduals());
        all.put("squeeze and excite", new ExportedNetworks(14).squeezeAndExcite());
        all.put("causal convolutions", new ExportedNetworks(13).causalConvolutions());
        all.put("autoencoder", new ExportedNetworks(13).autoencoder());
        all.put("U-Net", new ExportedNetworks(16).skips());
        all.put("attention", new ExportedNetworks(13).attention());
        all.put("detector", new ExportedNetworks(13).detector());
        all.put("channel shuffle", new ExportedNetworks(13).shuffledChannels());
        all.put("image of a camera", new ExportedNetworks(13).camera());
        all.put("bidirectional GRU", new ExportedNetworks(14).recurrent());
        return all;
    }

    private String node(String operator, Map<String, Object> attributes, String... inputs) {
        return model.node(operator, List.of(inputs), "v" + values++, attributes);
    }

    private String node(String operator, String... inputs) {
        return node(operator, Map.of(), inputs);
    }

    private String number(float value) {
        return model.floats(true, value);
    }

    private String shape(long... sizes) {
        return model.longs(false, sizes);
    }

    private String weight(Integer... dims) {
        int count = List.of(dims).stream().reduce(1, (a, b) -> a * b);
        double deviation = dims.length == 1 ? 0.1 : Math.sqrt(1.5 * Math.min(dims[0], dims[1]) / count);
        ByteBuffer data = ByteBuffer.allocate(Float.BYTES * count).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            data.putFloat((float) (deviation * random.nextGaussian()));
        }
        return model.constant(FLOAT, List.of(dims), data.array());
    }

    private String conv(String x, int from, int to, int kernel, int stride, int groups) {
        Map<String, Object> attributes = ModelBuilder.window(kernel, kernel / 2, stride);
        attributes.put("group", (long) groups);
        return node("Conv", attributes, x, weight(to, from / groups, kernel, kernel), weight(to));
    }

    private String linear(String x, int from, int to) {
        return node("Add", node("MatMul", x, weight(from, to)), weight(to));
    }

    private String relu6(String x) {
        return node("Clip", x, number(0), number(6));
    }

    private String transposed(String x, Long... axes) {
        return node("Transpose", Map.of("perm", List.of(axes)), x);
    }

    private String joined(long axis, String... parts) {
        return node("Concat", Map.of("axis", axis), parts);
    }

    private Bytes end(String result) {
        model.output(result, FLOAT);
        return model.build();
    }

    /** As MobileNet V2; the result is flattened by the arithmetic of shapes. */
    private Bytes invertedResiduals() {
        String x = relu6(conv(model.input("x", FLOAT, List.of(1, 3, 12, 12)), 3, 8, 3, 2, 1));
        String wide = relu6(conv(relu6(conv(x, 8, 24, 1, 1, 1)), 24, 24, 3, 1, 24));
        x = node("Add", x, conv(wide, 24, 8, 1, 1, 1));
        x = node("GlobalAveragePool", x);
        String batch = node("Gather", Map.of("axis", 0L), node("Shape", x), model.longs(true, 0));
        String sizes = joined(0, node("Unsqueeze", batch, shape(0)), shape(-1));
        return end(node("Gemm", Map.of("transB", 1L), node("Reshape", x, sizes), weight(5, 8), weight(5)));
    }

    /** As MobileNet V3. */
    private Bytes squeezeAndExcite() {
        String x = node("HardSwish", conv(model.input("x", FLOAT, List.of(1, 3, 10, 10)), 3, 8, 3, 2, 1));
        String factor = node("Relu", conv(node("GlobalAveragePool", x), 8, 4, 1, 1, 1));
        factor = node("HardSigmoid", Map.of("alpha", 1f / 6), conv(factor, 4, 8, 1, 1, 1));
        x = node("HardSwish", conv(node("Mul", factor, x), 8, 12, 5, 2, 4));
        String mean = node("ReduceMean", Map.of("axes", List.of(2L, 3L), "keepdims", 0L), x);
        return end(node("Gemm", Map.of("transB", 1L), mean, weight(4, 12), weight(4)));
    }

    /** As a temporal convolutional network: padded on both sides, then cut. */
    private Bytes causalConvolutions() {
        String x = model.input("x", FLOAT, List.of(1, 4, 24));
        int channels = 4;
        for (long dilation : new long[] {1, 2, 4}) {
            Map<String, Object> attributes = Map.of(
                    "dilations",
                    List.of(dilation),
                    "pads",
                    List.of(2 * dilation, 2 * dilation),
                    "kernel_shape",
                    List.of(3L));
            String y = node("Conv", attributes, x, weight(8, channels, 3), weight(8));
            y = node("Slice", y, shape(0), shape(-2 * dilation), shape(2));
            x = channels == 8 ? node("Relu", node("Add", x, node("Relu", y))) : node("Relu", y);
            channels = 8;
        }
        String last = node("Gather", Map.of("axis", 2L), x, model.longs(true, -1));
        return end(node("Gemm", Map.of("transB", 1L), last, weight(3, 8), weight(3)));
    }

    private Bytes autoencoder() {
        String x = node("Relu", conv(model.input("x", FLOAT, List.of(1, 1, 12, 12)), 1, 6, 3, 2, 1));
        Map<String, Object> attributes = ModelBuilder.window(3, 1, 2);
        attributes.put("output_padding", List.of(1L, 1L));
        x = node("Relu", conv(x, 6, 8, 3, 2, 1));
        x = node("Relu", node("ConvTranspose", attributes, x, weight(8, 6, 3, 3), weight(6)));
        Map<String, Object> nearest =
                Map.of("mode", "nearest", "coordinate_transformation_mode", "asymmetric", "nearest_mode", "floor");
        x = node("Resize", nearest, x, "", model.floats(false, 1, 1, 2, 2));
        return end(node("Sigmoid", conv(x, 6, 1, 3, 1, 1)));
    }

    private Bytes skips() {
        Map<String, Object> half = ModelBuilder.window(2, 0, 2);
        String first = node("Relu", conv(model.input("x", FLOAT, List.of(1, 1, 8, 8)), 1, 6, 3, 1, 1));
        String second = node("Relu", conv(node("MaxPool", half, first), 6, 8, 3, 1, 1));
        String up = node("ConvTranspose", half, second, weight(8, 6, 2, 2), weight(6));
        return end(conv(node("Relu", conv(joined(1, first, up), 12, 6, 3, 1, 1)), 6, 2, 1, 1, 1));
    }

    /** Two causal heads, a normalization of its parts, and GELU. */
    private Bytes attention() {
        String x = model.input("x", FLOAT, List.of(1, 4, 8));
        List<String> heads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            heads.add(node("Reshape", linear(x, 8, 8), shape(1, 4, 2, 4)));
        }
        String keys = transposed(heads.get(1), 0L, 2L, 3L, 1L);
        String scores = node("Div", node("MatMul", transposed(heads.get(0), 0L, 2L, 1L, 3L), keys), number(2));
        String triangle =
                node("Reshape", model.floats(false, 1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1), shape(4, 4));
        scores = node("Where", node("Equal", triangle, number(0)), number(-16), scores);
        String mixed = node("MatMul", node("Softmax", scores), transposed(heads.get(2), 0L, 2L, 1L, 3L));
        x = node("Add", x, linear(node("Reshape", transposed(mixed, 0L, 2L, 1L, 3L), shape(1, 4, 8)), 8, 8));
        String centred = node("Sub", x, mean(x));
        String deviation = node("Sqrt", node("Add", mean(node("Pow", centred, number(2))), number(1e-5f)));
        x = linear(node("Div", centred, deviation), 8, 16);
        String erf = node("Add", node("Erf", node("Div", x, number(1.4142135f))), number(1));
        return end(linear(node("Mul", node("Mul", x, erf), number(0.5f)), 16, 3));
    }

    private String mean(String x) {
        return node("ReduceMean", Map.of("axes", List.of(-1L)), x);
    }

    /** As YOLO: boxes of each cell from parts of a sigmoid. */
    private Bytes detector() {
        String x = node(
                "LeakyRelu",
                Map.of("alpha", 0.125f),
                conv(model.input("x", FLOAT, List.of(1, 3, 8, 8)), 3, 8, 3, 2, 1));
        x = node("Reshape", conv(x, 8, 14, 1, 1, 1), shape(1, 2, 7, 4, 4));
        x = node("Sigmoid", transposed(x, 0L, 1L, 3L, 4L, 2L));
        List<String> parts = List.of("centres", "sizes", "classes");
        model.node("", "Split", List.of(x, shape(2, 2, 3)), parts, Map.of("axis", 4L));
        String centres = node("Mul", node("Add", "centres", weight(1, 2, 4, 4, 2)), number(2));
        String sizes = node("Mul", node("Pow", node("Mul", "sizes", number(2)), number(2)), weight(1, 2, 1, 1, 2));
        return end(node("Reshape", joined(4, centres, sizes, "classes"), shape(1, -1, 7)));
    }

    /** As ShuffleNet, with SiLU. */
    private Bytes shuffledChannels() {
        String x = conv(model.input("x", FLOAT, List.of(1, 3, 8, 8)), 3, 8, 3, 2, 1);
        model.node("", "Split", List.of(x, shape(4, 4)), List.of("left", "right"), Map.of("axis", 1L));
        String right = conv("right", 4, 4, 1, 1, 1);
        right = conv(node("Mul", right, node("Sigmoid", right)), 4, 4, 3, 1, 4);
        x = node("Reshape", joined(1, "left", right), shape(1, 2, 4, 4, 4));
        return end(node("Reshape", transposed(x, 0L, 2L, 1L, 3L, 4L), shape(1, 8, 4, 4)));
    }

    private Bytes camera() {
        String x = node("Cast", Map.of("to", 1L), model.input("x", UINT8, List.of(1, 3, 8, 8)));
        String means = node("Reshape", model.floats(false, 0.485f, 0.456f, 0.406f), shape(3, 1, 1));
        x = node("Div", node("Sub", node("Div", x, number(255)), means), number(0.226f));
        return end(node("Flatten", node("Relu", conv(x, 3, 4, 3, 2, 1))));
    }

    private Bytes recurrent() {
        String x = transposed(model.input("x", FLOAT, List.of(1, 6, 4)), 1L, 0L, 2L);
        Map<String, Object> attributes =
                Map.of("hidden_size", 5L, "direction", "bidirectional", "linear_before_reset", 1L);
        String all = node("GRU", attributes, x, weight(2, 15, 4), weight(2, 15, 5), weight(2, 30));
        String both = node("Reshape", transposed(all, 0L, 2L, 1L, 3L), shape(0, 0, -1));
        return end(linear(transposed(both, 1L, 0L, 2L), 10, 3));
    }
}
