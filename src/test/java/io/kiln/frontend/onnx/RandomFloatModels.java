// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static io.kiln.frontend.onnx.model.ElementType.FLOAT;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Draws float models of one operator: shapes, attributes and constants. */
public final class RandomFloatModels extends OnnxDraw {
    private static final List<String> UNARY = names("""
        Abs Atan Ceil Cos Elu Erf Exp Floor HardSigmoid HardSwish LeakyRelu Neg Relu Selu Sigmoid Sign
        Sin Softplus Softsign Tanh ThresholdedRelu Round Sqrt Log Reciprocal Celu Sinh Cosh Asinh Acosh Atanh
        Asin Acos Tan Shrink
        """);

    private static final List<String> BINARY = List.of("Add", "Sub", "Mul", "Div", "Min", "Max", "PRelu");

    private static final List<String> REDUCTIONS = List.of(
            "ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceSumSquare", "ReduceLogSumExp");

    private static final List<String> OTHERS = names("""
        Conv ConvTranspose Gemm MatMul MaxPool AveragePool Softmax LogSoftmax Transpose Concat Pad Slice LayerNormalization
        BatchNormalization InstanceNormalization LRN Resize
        """);

    /** Operators, which take turns. */
    static final List<String> OPERATORS =
            Stream.of(OTHERS, UNARY, BINARY, REDUCTIONS).flatMap(List::stream).toList();

    private static List<String> names(String text) {
        return List.of(text.strip().split("\\s+", -1));
    }

    private final String name;

    private RandomFloatModels(long seed) {
        super(seed, OPERATORS.size(), 17);
        this.name = OPERATORS.get((int) (seed % OPERATORS.size()));
    }

    /** The model of a number. */
    public static Model draw(long seed) {
        RandomFloatModels drawn = new RandomFloatModels(seed);
        drawn.build();
        return drawn.named(drawn.name);
    }

    private void build() {
        switch (name) {
            case "Conv", "ConvTranspose" -> convolution();
            case "Gemm" -> gemm();
            case "MatMul" -> product();
            case "MaxPool", "AveragePool" -> pool();
            case "Softmax", "LogSoftmax", "LayerNormalization" -> alongAxis();
            case "Transpose" -> transpose();
            case "Concat" -> concatenation();
            case "Pad" -> padding();
            case "Slice" -> slice();
            case "BatchNormalization", "InstanceNormalization" -> normalization();
            case "LRN" -> node(List.of(x(image(6))), Map.of("size", 1L + 2L * below(3), "alpha", 0.1f));
            case "Resize" -> resize();
            default -> other();
        }
    }

    private void node(List<String> inputs, Map<String, Object> attributes) {
        end(name, inputs, attributes);
    }

    private List<Integer> image(int channels) {
        return List.of(upTo(2), upTo(channels), 5 + below(6), 5 + below(6));
    }

    private void convolution() {
        boolean isTransposed = name.equals("ConvTranspose");
        int groups = upTo(3);
        int inputs = groups * upTo(4);
        int outputs = groups * upTo(4);
        List<Integer> kernel = List.of(upTo(3), upTo(3));
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put("kernel_shape", pair(kernel.get(0), kernel.get(1)));
        attributes.put("group", (long) groups);
        attributes.put("strides", pair(upTo(2), upTo(2)));
        attributes.put("dilations", pair(upTo(2), upTo(2)));
        if (coin() && !isTransposed) {
            attributes.put("auto_pad", coin() ? "SAME_UPPER" : "SAME_LOWER");
            attributes.put("dilations", pair(1, 1));
        } else {
            attributes.put("pads", random.longs(4, 0, 2).boxed().toList());
        }
        List<Integer> weight = List.of(
                isTransposed ? inputs : outputs,
                (isTransposed ? outputs : inputs) / groups,
                kernel.get(0),
                kernel.get(1));
        List<String> all =
                new ArrayList<>(List.of(x(List.of(upTo(2), inputs, 6 + below(4), 6 + below(4))), constant(weight)));
        if (coin()) {
            all.add(constant(List.of(outputs)));
        }
        node(all, attributes);
    }

    private void gemm() {
        int rows = upTo(6);
        int depth = upTo(20);
        int units = upTo(9);
        boolean a = coin();
        boolean b = coin();
        node(
                List.of(
                        x(a ? List.of(depth, rows) : List.of(rows, depth)),
                        constant(b ? List.of(units, depth) : List.of(depth, units)),
                        constant(coin() ? List.of(units) : List.of(rows, 1))),
                Map.of("transA", a ? 1L : 0L, "transB", b ? 1L : 0L, "alpha", 0.7f, "beta", 1.3f));
    }

    private void product() {
        int depth = upTo(12);
        List<Integer> left = List.of(upTo(3), upTo(3), upTo(5), depth);
        List<Integer> right = List.of(coin() ? 1 : left.get(0), left.get(1), depth, upTo(5));
        boolean isVector = below(4) == 0;
        List<Integer> other = isVector ? List.of(depth) : right;
        node(List.of(x(left), coin() ? constant(other) : model.input("w", FLOAT, other)), Map.of());
    }

    private void pool() {
        int kernel = upTo(3);
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put("kernel_shape", pair(kernel, kernel));
        attributes.put("strides", pair(upTo(2), upTo(2)));
        attributes.put("pads", Collections.nCopies(4, (long) below(kernel)));
        if (name.equals("AveragePool")) {
            attributes.put("count_include_pad", (long) below(2));
        } else {
            attributes.put("ceil_mode", (long) below(2));
        }
        node(List.of(x(image(5))), attributes);
    }

    private void alongAxis() {
        List<Integer> dims = dims(2);
        int axis = below(dims.size());
        List<String> inputs = new ArrayList<>(List.of(x(dims)));
        if (name.equals("LayerNormalization")) {
            inputs.add(constant(dims.subList(axis, dims.size())));
        }
        node(inputs, Map.of("axis", (long) (coin() ? axis : axis - dims.size())));
    }

    private void transpose() {
        List<Integer> dims = dims(2);
        List<Long> axes = shuffled(LongStream.range(0, dims.size()).boxed().toList());
        node(List.of(x(dims)), Map.of("perm", axes));
    }

    private void concatenation() {
        List<Integer> dims = dims(1);
        int axis = below(dims.size());
        List<Integer> other = new ArrayList<>(dims);
        other.set(axis, upTo(5));
        node(List.of(x(dims), model.input("z", FLOAT, other), "x"), Map.of("axis", (long) axis - dims.size()));
    }

    private void padding() {
        List<Integer> dims = random.ints(1 + below(4), 3, 8).boxed().toList();
        List<Integer> pads = random.ints(2L * dims.size(), 0, 3).boxed().toList();
        String mode = oneOf(List.of("constant", "edge", "reflect"));
        List<String> inputs = new ArrayList<>(List.of(x(dims), model.longs(pads)));
        if (mode.equals("constant")) {
            inputs.add(model.floats(true, 0.5f));
        }
        node(inputs, Map.of("mode", mode));
    }

    private void slice() {
        List<Integer> dims = dims(2);
        int axis = below(dims.size());
        int size = dims.get(axis);
        boolean isBackwards = coin();
        int step = isBackwards ? -upTo(2) : upTo(2);
        int begin = isBackwards ? size - 1 : below(size);
        int end = isBackwards ? -size - 1 : size;
        node(
                List.of(
                        x(dims),
                        model.longs(List.of(begin)),
                        model.longs(List.of(end)),
                        model.longs(List.of(axis)),
                        model.longs(List.of(step))),
                Map.of());
    }

    private void normalization() {
        List<Integer> dims = image(6);
        List<Integer> channels = List.of(dims.get(1));
        List<String> inputs = new ArrayList<>(List.of(x(dims), constant(channels), constant(channels)));
        if (name.equals("BatchNormalization")) {
            inputs.add(constant(channels));
            inputs.add(constant(channels, () -> 0.1f + random.nextFloat()));
        }
        node(inputs, Map.of("epsilon", 0.01f));
    }

    private void resize() {
        List<Integer> dims = List.of(1, upTo(3), 2 + below(5), 2 + below(5));
        List<Integer> sizes = List.of(1, dims.get(1), upTo(9), upTo(9));
        boolean isLinear = coin();
        List<String> modes = List.of("half_pixel", "asymmetric", "align_corners");
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put("mode", isLinear ? "linear" : "nearest");
        attributes.put("coordinate_transformation_mode", modes.get(below(isLinear ? 3 : 2)));
        if (!isLinear) {
            attributes.put("nearest_mode", "floor");
        }
        node(List.of(x(dims), "", "", model.longs(sizes)), attributes);
    }

    private void other() {
        List<Integer> dims = dims(1, turn);
        if (BINARY.contains(name)) {
            List<Integer> row = dims.subList(below(dims.size()), dims.size());
            boolean isConstant = name.equals("Div") || name.equals("PRelu") || coin();
            node(List.of(x(dims), isConstant ? constant(row) : model.input("z", FLOAT, row)), Map.of());
        } else if (REDUCTIONS.contains(name)) {
            long axis = below(dims.size());
            node(List.of(x(dims)), Map.of("axes", List.of(axis), "keepdims", (long) below(2)));
        } else {
            node(List.of(x(dims)), Map.of());
        }
    }
}
