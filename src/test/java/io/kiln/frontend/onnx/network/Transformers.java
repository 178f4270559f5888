// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.network;

import static io.kiln.frontend.onnx.model.ElementType.FLOAT;

import io.kiln.base.Bytes;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.ir.Parameter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Transformers small enough for a microcontroller, with the nodes that PyTorch's exporter writes and seeded weights. */
public final class Transformers {
    /** What binds the past of {@link #streaming} to its present. */
    public static final String STATE = "past.*=previous(present.*)";

    private static final float CUT = 1.4142135f;

    private final ModelBuilder model;
    private final Random random;
    private final int width;
    private final int heads;
    private int values;

    private Transformers(int opset, long seed, int width, int heads) {
        this.model = new ModelBuilder(opset);
        this.random = new Random(seed);
        this.width = width;
        this.heads = heads;
    }

    /** Recognizes 4 words in 24 rows of 16 features: a projection, places, one layer, the mean of all rows, classes. */
    public static Bytes keywords(long seed) {
        Transformers t = new Transformers(17, seed, 32, 2);
        String x = t.linear(t.model.input("x", FLOAT, List.of(1, 24, 16)), 16, 32);
        x = t.layer(t.node("Add", x, t.weight(0.2, 1, 24, 32)), 24);
        String mean = t.node("ReduceMean", Map.of("axes", List.of(1L), "keepdims", 0L), t.normalized(x));
        return t.end(t.linear(mean, 32, 4));
    }

    /** Two layers of four heads on 16 rows of 32 channels. */
    public static Bytes encoder(long seed) {
        Transformers t = new Transformers(17, seed, 32, 4);
        String x = t.layer(t.layer(t.model.input("x", FLOAT, List.of(1, 16, 32)), 16), 16);
        return t.end(t.normalized(x));
    }

    /**
     * Two layers that take one row in each run, and attend to it and to the 7 rows before: keys and values of these are inputs {@code
     * past.<layer>.key} and {@code .value}, and with the new ones outputs {@code present.<layer>.key} and {@code .value}.
     */
    public static Bytes streaming(long seed) {
        Transformers t = new Transformers(24, seed, 16, 2);
        List<String> kept = new ArrayList<>();
        String x = t.model.input("x", FLOAT, List.of(1, 1, 16));
        for (int layer = 0; layer < 2; layer++) {
            String unit = t.normalized(x);
            List<String> inputs = new ArrayList<>(
                    List.of(t.linear(unit, 16, 16), t.linear(unit, 16, 16), t.linear(unit, 16, 16), ""));
            List<String> outputs = new ArrayList<>(List.of("mixed." + layer));
            for (String part : List.of("key", "value")) {
                inputs.add(t.model.input("past." + layer + "." + part, FLOAT, List.of(1, 2, 7, 8)));
                outputs.add("present." + layer + "." + part);
            }
            t.model.node("", "Attention", inputs, outputs, Map.of("q_num_heads", 2L, "kv_num_heads", 2L));
            kept.addAll(outputs.subList(1, 3));
            x = t.forward(t.node("Add", x, t.linear(outputs.get(0), 16, 16)));
        }
        t.model.output(x, FLOAT);
        kept.forEach(name -> t.model.output(name, FLOAT));
        return t.model.build();
    }

    /** A float model with pairs of QuantizeLinear and DequantizeLinear around all operators. */
    public static Bytes quantized(Bytes file) {
        List<Parameter> inputs =
                OnnxFrontend.read(file, "m.onnx", "m", InputShapes.NONE).params();
        List<Bytes> data = inputs.stream()
                .map(input -> RandomOperators.input(input.type(), 1))
                .toList();
        return StaticQuantizer.quantizeToLast(file, inputs, data);
    }

    private String node(String operator, Map<String, Object> attributes, String... inputs) {
        return model.node(operator, List.of(inputs), "v" + values++, attributes);
    }

    private String node(String operator, String... inputs) {
        return node(operator, Map.of(), inputs);
    }

    private String weight(double deviation, Integer... dims) {
        int count = List.of(dims).stream().reduce(1, (a, b) -> a * b);
        ByteBuffer data = ByteBuffer.allocate(Float.BYTES * count).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            data.putFloat((float) (deviation * random.nextGaussian()));
        }
        return model.constant(FLOAT, List.of(dims), data.array());
    }

    private String linear(String x, int from, int to) {
        return node("Add", node("MatMul", x, weight(1 / Math.sqrt(from), from, to)), weight(0.1, to));
    }

    private String normalized(String x) {
        Map<String, Object> attributes = new LinkedHashMap<>(Map.of("axis", -1L, "epsilon", 1e-5f));
        return node("LayerNormalization", attributes, x, weight(1, width), weight(0.1, width));
    }

    private String layer(String x, int rows) {
        return forward(node("Add", x, attention(normalized(x), rows)));
    }

    private String attention(String x, int rows) {
        List<String> parts = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            String split = model.longs(false, 1, rows, heads, width / heads);
            parts.add(node("Reshape", linear(x, width, width), split));
        }
        String keys = node("Transpose", Map.of("perm", List.of(0L, 2L, 3L, 1L)), parts.get(1));
        String queries = node("Transpose", Map.of("perm", List.of(0L, 2L, 1L, 3L)), parts.get(0));
        String mixing = node("Transpose", Map.of("perm", List.of(0L, 2L, 1L, 3L)), parts.get(2));
        String root = model.floats(true, (float) Math.sqrt((double) width / heads));
        String scores = node("Div", node("MatMul", queries, keys), root);
        String mixed = node("MatMul", node("Softmax", Map.of("axis", -1L), scores), mixing);
        String joined = node("Transpose", Map.of("perm", List.of(0L, 2L, 1L, 3L)), mixed);
        return linear(node("Reshape", joined, model.longs(false, 1, rows, width)), width, width);
    }

    /** Two fully connected layers and GELU, as the error function. */
    private String forward(String x) {
        String wide = linear(normalized(x), width, 2 * width);
        String erf = node("Add", node("Erf", node("Div", wide, model.floats(true, CUT))), model.floats(true, 1));
        String gelu = node("Mul", node("Mul", wide, erf), model.floats(true, 0.5f));
        return node("Add", x, linear(gelu, 2 * width, width));
    }

    private Bytes end(String result) {
        model.output(result, FLOAT);
        return model.build();
    }
}
