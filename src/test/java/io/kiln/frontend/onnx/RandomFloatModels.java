// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static io.kiln.frontend.onnx.model.ElementType.FLOAT;
import static io.kiln.frontend.onnx.model.ElementType.INT64;

import io.kiln.base.Bytes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Draws float models of one operator: shapes, attributes and constants. */
public final class RandomFloatModels {
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

    private final Random random;
    private final ModelBuilder model = new ModelBuilder(17);
    private final String name;

    private RandomFloatModels(long seed) {
        this.random = new Random(seed);
        this.name = OPERATORS.get((int) (seed % OPERATORS.size()));
    }

    /**
     * A model.
     *
     * @param name its operator
     */
    public record Model(String name, Bytes file) {}

    /** The model of a number. */
    public static Model draw(long seed) {
        RandomFloatModels drawn = new RandomFloatModels(seed);
        drawn.build();
        return new Model(drawn.name, drawn.model.build());
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
            case "LRN" -> node(List.of(x(image(6))), Map.of("size", 1L + 2L * random.nextInt(3), "alpha", 0.1f));
            case "Resize" -> resize();
            default -> other();
        }
    }

    private void node(List<String> inputs, Map<String, Object> attributes) {
        model.output(model.node(name, inputs, "y", attributes), FLOAT);
    }

    private String x(List<Integer> dims) {
        return model.input("x", FLOAT, dims);
    }

    private int upTo(int most) {
        return 1 + random.nextInt(most);
    }

    private List<Integer> dims(int leastRank) {
        return random.ints(leastRank + random.nextInt(5 - leastRank), 1, 8)
                .boxed()
                .toList();
    }

    private List<Integer> image(int channels) {
        return List.of(upTo(2), upTo(channels), 5 + random.nextInt(6), 5 + random.nextInt(6));
    }

    private String constant(List<Integer> dims) {
        int count = dims.stream().reduce(1, Math::multiplyExact);
        ByteBuffer data = ByteBuffer.allocate(4 * count).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            data.putFloat(random.nextFloat() * 2 - 1);
        }
        return model.constant(FLOAT, dims, data.array());
    }

    private String longs(List<Integer> values) {
        ByteBuffer data = ByteBuffer.allocate(8 * values.size()).order(ByteOrder.LITTLE_ENDIAN);
        values.forEach(data::putLong);
        return model.constant(INT64, List.of(values.size()), data.array());
    }

    private static List<Long> pair(int first, int second) {
        return List.of((long) first, (long) second);
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
        if (random.nextBoolean() && !isTransposed) {
            attributes.put("auto_pad", random.nextBoolean() ? "SAME_UPPER" : "SAME_LOWER");
            attributes.put("dilations", pair(1, 1));
        } else {
            attributes.put("pads", random.longs(4, 0, 2).boxed().toList());
        }
        List<Integer> weight = List.of(
                isTransposed ? inputs : outputs,
                (isTransposed ? outputs : inputs) / groups,
                kernel.get(0),
                kernel.get(1));
        List<String> all = new ArrayList<>(
                List.of(x(List.of(upTo(2), inputs, 6 + random.nextInt(4), 6 + random.nextInt(4))), constant(weight)));
        if (random.nextBoolean()) {
            all.add(constant(List.of(outputs)));
        }
        node(all, attributes);
    }

    private void gemm() {
        int rows = upTo(6);
        int depth = upTo(20);
        int units = upTo(9);
        boolean a = random.nextBoolean();
        boolean b = random.nextBoolean();
        node(
                List.of(
                        x(a ? List.of(depth, rows) : List.of(rows, depth)),
                        constant(b ? List.of(units, depth) : List.of(depth, units)),
                        constant(random.nextBoolean() ? List.of(units) : List.of(rows, 1))),
                Map.of("transA", a ? 1L : 0L, "transB", b ? 1L : 0L, "alpha", 0.7f, "beta", 1.3f));
    }

    private void product() {
        int depth = upTo(12);
        List<Integer> left = List.of(upTo(3), upTo(3), upTo(5), depth);
        List<Integer> right = List.of(random.nextBoolean() ? 1 : left.get(0), left.get(1), depth, upTo(5));
        boolean isVector = random.nextInt(4) == 0;
        List<Integer> other = isVector ? List.of(depth) : right;
        node(List.of(x(left), random.nextBoolean() ? constant(other) : model.input("w", FLOAT, other)), Map.of());
    }

    private void pool() {
        int kernel = upTo(3);
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put("kernel_shape", pair(kernel, kernel));
        attributes.put("strides", pair(upTo(2), upTo(2)));
        int pad = random.nextInt(kernel);
        attributes.put("pads", List.of((long) pad, (long) pad, (long) pad, (long) pad));
        if (name.equals("AveragePool")) {
            attributes.put("count_include_pad", (long) random.nextInt(2));
        } else {
            attributes.put("ceil_mode", (long) random.nextInt(2));
        }
        node(List.of(x(image(5))), attributes);
    }

    private void alongAxis() {
        List<Integer> dims = dims(2);
        int axis = random.nextInt(dims.size());
        List<String> inputs = new ArrayList<>(List.of(x(dims)));
        if (name.equals("LayerNormalization")) {
            inputs.add(constant(dims.subList(axis, dims.size())));
        }
        node(inputs, Map.of("axis", (long) (random.nextBoolean() ? axis : axis - dims.size())));
    }

    private void transpose() {
        List<Integer> dims = dims(2);
        List<Long> axes = new ArrayList<>(
                IntStream.range(0, dims.size()).mapToObj(Long::valueOf).toList());
        Collections.shuffle(axes, random);
        node(List.of(x(dims)), Map.of("perm", axes));
    }

    private void concatenation() {
        List<Integer> dims = dims(1);
        int axis = random.nextInt(dims.size());
        List<Integer> other = new ArrayList<>(dims);
        other.set(axis, upTo(5));
        node(List.of(x(dims), model.input("z", FLOAT, other), "x"), Map.of("axis", (long) axis - dims.size()));
    }

    private void padding() {
        List<Integer> dims = random.ints(1 + random.nextInt(4), 3, 8).boxed().toList();
        List<Integer> pads = random.ints(2L * dims.size(), 0, 3).boxed().toList();
        String mode = List.of("constant", "edge", "reflect").get(random.nextInt(3));
        List<String> inputs = new ArrayList<>(List.of(x(dims), longs(pads)));
        if (mode.equals("constant")) {
            inputs.add(model.floats(true, 0.5f));
        }
        node(inputs, Map.of("mode", mode));
    }

    private void slice() {
        List<Integer> dims = dims(2);
        int axis = random.nextInt(dims.size());
        int size = dims.get(axis);
        boolean isBackwards = random.nextBoolean();
        int step = isBackwards ? -upTo(2) : upTo(2);
        int begin = isBackwards ? size - 1 : random.nextInt(size);
        int end = isBackwards ? -size - 1 : size;
        node(
                List.of(
                        x(dims),
                        longs(List.of(begin)),
                        longs(List.of(end)),
                        longs(List.of(axis)),
                        longs(List.of(step))),
                Map.of());
    }

    private void normalization() {
        List<Integer> dims = image(6);
        List<Integer> channels = List.of(dims.get(1));
        List<String> inputs = new ArrayList<>(List.of(x(dims), constant(channels), constant(channels)));
        if (name.equals("BatchNormalization")) {
            inputs.add(constant(channels));
            float[] variances = new float[channels.get(0)];
            IntStream.range(0, variances.length).forEach(i -> variances[i] = 0.1f + random.nextFloat());
            inputs.add(model.floats(false, variances));
        }
        node(inputs, Map.of("epsilon", 0.01f));
    }

    private void resize() {
        List<Integer> dims = List.of(1, upTo(3), 2 + random.nextInt(5), 2 + random.nextInt(5));
        List<Integer> sizes = List.of(1, dims.get(1), upTo(9), upTo(9));
        boolean isLinear = random.nextBoolean();
        List<String> modes = List.of("half_pixel", "asymmetric", "align_corners");
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put("mode", isLinear ? "linear" : "nearest");
        attributes.put("coordinate_transformation_mode", modes.get(random.nextInt(isLinear ? 3 : 2)));
        if (!isLinear) {
            attributes.put("nearest_mode", "floor");
        }
        node(List.of(x(dims), "", "", longs(sizes)), attributes);
    }

    private void other() {
        List<Integer> dims = dims(1);
        if (BINARY.contains(name)) {
            List<Integer> row = dims.subList(random.nextInt(dims.size()), dims.size());
            boolean isConstant = name.equals("Div") || name.equals("PRelu") || random.nextBoolean();
            node(List.of(x(dims), isConstant ? constant(row) : model.input("z", FLOAT, row)), Map.of());
        } else if (REDUCTIONS.contains(name)) {
            long axis = random.nextInt(dims.size());
            node(List.of(x(dims)), Map.of("axes", List.of(axis), "keepdims", (long) random.nextInt(2)));
        } else {
            node(List.of(x(dims)), Map.of());
        }
    }
}
