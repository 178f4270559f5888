// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static io.kiln.frontend.onnx.model.ElementType.BOOL;
import static io.kiln.frontend.onnx.model.ElementType.FLOAT;
import static io.kiln.frontend.onnx.model.ElementType.INT32;

import io.kiln.base.Bytes;
import io.kiln.frontend.onnx.model.ElementType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/** Draws models of one operator of version 18 and later, or of weights of a few bits: shapes, attributes and constants. */
public final class RandomNewerModels extends OnnxDraw {
    private static final int OPSET = 24;

    /** Operators that version 26 introduced; ONNX Runtime lacks some of the others in this version. */
    private static final Set<String> NEWEST = Set.of("BitCast", "CumProd");

    /** Operators, which take turns. */
    static final List<String> OPERATORS = List.of(
            "Attention",
            "RMSNormalization",
            "RotaryEmbedding",
            "Swish",
            "CumProd",
            "BitCast",
            "TensorScatter",
            "MatMulNBits",
            "DequantizeLinear",
            "QuantizeLinear",
            "Resize",
            "ConvTranspose");

    private final String name;

    private RandomNewerModels(long seed) {
        super(seed, OPERATORS.size(), NEWEST.contains(name(seed)) ? 26 : OPSET);
        this.name = name(seed);
    }

    private static String name(long seed) {
        return OPERATORS.get((int) (seed % OPERATORS.size()));
    }

    /** One model of each operator. */
    public static List<Bytes> each() {
        return IntStream.range(0, OPERATORS.size())
                .mapToObj(seed -> draw(seed).file())
                .toList();
    }

    /** The model of a number. */
    public static Model draw(long seed) {
        RandomNewerModels drawn = new RandomNewerModels(seed);
        drawn.build();
        return drawn.named(drawn.name);
    }

    private void build() {
        switch (name) {
            case "Attention" -> attention();
            case "RMSNormalization" -> {
                List<Integer> dims = dims(2);
                int axis = below(dims.size());
                node(
                        List.of(x(dims), constant(dims.subList(axis, dims.size()))),
                        Map.of("axis", (long) axis - dims.size()));
            }
            case "RotaryEmbedding" -> rotary();
            case "Swish" -> node(List.of(x(dims(1))), Map.of("alpha", random.nextFloat() * 3));
            case "CumProd" -> {
                List<Integer> dims = dims(1);
                node(
                        List.of(x(dims), model.longs(true, below(dims.size()) - dims.size())),
                        Map.of("exclusive", bit(), "reverse", bit()));
            }
            case "BitCast" -> {
                boolean isFloat = coin();
                model.input("x", isFloat ? FLOAT : INT32, dims(1));
                model.node(name, List.of("x"), "y", Map.of("to", isFloat ? 6L : 1L));
                model.output("y", isFloat ? INT32 : FLOAT);
            }
            case "TensorScatter" -> scatter();
            case "MatMulNBits" -> bits();
            case "DequantizeLinear" -> dequantized();
            case "QuantizeLinear" -> quantized();
            case "Resize" -> resize();
            default -> transposed();
        }
    }

    private void node(List<String> inputs, Map<String, Object> attributes) {
        end(name, inputs, attributes);
    }

    private String constant(List<Integer> dims, float largest) {
        return constant(dims, () -> (random.nextFloat() * 2 - 1) * largest);
    }

    private void attention() {
        boolean isFlat = coin();
        int batch = upTo(2);
        int groups = upTo(3);
        int heads = groups * upTo(3);
        int queries = upTo(5);
        int past = below(3) == 0 ? upTo(4) : 0;
        int keys = past > 0 || coin() ? queries : upTo(6);
        int size = upTo(6);
        int valueSize = coin() ? size : upTo(6);
        Map<String, Object> attributes = new LinkedHashMap<>();
        List<String> inputs = new ArrayList<>(List.of(
                heads("q", isFlat, batch, heads, queries, size),
                heads("k", isFlat, batch, groups, keys, size),
                heads("v", isFlat, batch, groups, keys, valueSize)));
        if (isFlat) {
            attributes.put("q_num_heads", (long) heads);
            attributes.put("kv_num_heads", (long) groups);
        }
        int all = past + keys;
        switch (below(4)) {
            case 0 -> inputs.add(model.input("mask", BOOL, List.of(queries, all)));
            case 1 -> inputs.add(model.input("mask", FLOAT, List.of(batch, 1, queries, all)));
            case 2 -> inputs.add(constant(List.of(heads, queries, all)));
            default -> inputs.add("");
        }
        if (past > 0) {
            inputs.add(model.input("pk", FLOAT, List.of(batch, groups, past, size)));
            inputs.add(model.input("pv", FLOAT, List.of(batch, groups, past, valueSize)));
        } else if (below(4) == 0) {
            inputs.addAll(List.of("", ""));
            long[] lengths = random.longs(batch, 1, keys + 1L).toArray();
            inputs.add(model.longs(false, lengths));
        }
        attributes.put("is_causal", bit());
        if (coin()) {
            attributes.put("scale", random.nextFloat());
        }
        if (below(3) == 0) {
            attributes.put("softcap", 0.5f + random.nextFloat());
        }
        List<String> outputs = new ArrayList<>(List.of("y"));
        if (past > 0) {
            outputs.addAll(List.of("presentKey", "presentValue"));
        }
        if (below(3) == 0) {
            outputs.addAll(past > 0 ? List.of("scores") : List.of("", "", "scores"));
            attributes.put("qk_matmul_output_mode", (long) below(4));
        }
        model.node("", name, inputs, outputs, attributes);
        outputs.stream().filter(output -> !output.isEmpty()).forEach(output -> model.output(output, FLOAT));
    }

    private String heads(String input, boolean isFlat, int batch, int heads, int rows, int size) {
        return model.input(
                input, FLOAT, isFlat ? List.of(batch, rows, heads * size) : List.of(batch, heads, rows, size));
    }

    private void rotary() {
        boolean isOfRuntime = below(3) == 0;
        boolean isFlat = coin();
        int batch = upTo(2);
        int heads = upTo(3);
        int rows = upTo(5);
        int half = upTo(4);
        int rest = !isOfRuntime && coin() ? 2 * upTo(2) : 0;
        int size = 2 * half + rest;
        List<Integer> table = List.of(rows + 3, half);
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put("interleaved", bit());
        attributes.put("num_heads", isFlat ? (long) heads : 0L);
        if (rest > 0) {
            attributes.put("rotary_embedding_dim", 2L * half);
        }
        String x = x(isFlat ? List.of(batch, rows, heads * size) : List.of(batch, heads, rows, size));
        long[] places = random.longs((long) batch * rows, 0, rows + 3).toArray();
        if (isOfRuntime) {
            boolean isOne = coin();
            String positions = isOne ? model.longs(false, below(3)) : positions(places, batch, rows);
            end("com.microsoft", name, List.of(x, positions, constant(table), constant(table)), attributes);
        } else if (coin()) {
            node(List.of(x, constant(table), constant(table), positions(places, batch, rows)), attributes);
        } else {
            List<Integer> whole = List.of(batch, rows, half);
            node(List.of(x, constant(whole), constant(whole)), attributes);
        }
    }

    private String positions(long[] places, int batch, int rows) {
        ByteBuffer data = ByteBuffer.allocate(8 * places.length).order(ByteOrder.LITTLE_ENDIAN);
        for (long place : places) {
            data.putLong(place);
        }
        return model.constant(ElementType.INT64, List.of(batch, rows), data.array());
    }

    private void scatter() {
        int batch = upTo(3);
        int length = 3 + below(4);
        int rows = upTo(3);
        boolean isCircular = coin();
        boolean isOfHeads = coin();
        int width = upTo(4);
        List<String> inputs = new ArrayList<>(List.of(
                x(isOfHeads ? List.of(batch, 2, length, width) : List.of(batch, length, width)),
                model.input("z", FLOAT, isOfHeads ? List.of(batch, 2, rows, width) : List.of(batch, rows, width))));
        if (below(4) > 0) {
            int most = isCircular ? length : length - rows + 1;
            inputs.add(model.longs(false, random.longs(batch, 0, most).toArray()));
        }
        node(inputs, Map.of("mode", isCircular ? "circular" : "linear"));
    }

    private void bits() {
        int depth = upTo(70);
        int units = upTo(6);
        int block = 16 << below(2);
        long bits = coin() ? 4 : 8;
        int blocks = (depth + block - 1) / block;
        List<String> inputs = new ArrayList<>(List.of(
                x(List.of(upTo(3), depth)),
                constant(ElementType.UINT8, List.of(units, blocks, (int) (block * bits / 8))),
                constant(List.of(units, blocks), 1f / (1 << (bits - 1)))));
        int kind = below(3);
        if (kind == 1) {
            inputs.add(constant(ElementType.UINT8, List.of(units, (int) ((blocks * bits + 7) / 8))));
        } else if (kind == 2 && bits == 4) {
            inputs.add(constant(List.of(units, blocks)));
        }
        Map<String, Object> attributes =
                Map.of("K", (long) depth, "N", (long) units, "bits", bits, "block_size", (long) block);
        end("com.microsoft", name, inputs, attributes);
    }

    /** Weights with a scale for each block, and a product with them. */
    private void dequantized() {
        ElementType type = oneOf(List.of(ElementType.INT8, ElementType.UINT8, ElementType.INT4, ElementType.UINT4));
        int axis = below(2);
        List<Integer> dims = List.of(2 * upTo(5), 2 * upTo(4));
        int block = upTo(4);
        List<Integer> blocks = new ArrayList<>(dims);
        blocks.set(axis, (dims.get(axis) + block - 1) / block);
        List<String> inputs = new ArrayList<>(List.of(constant(type, dims), constant(blocks)));
        if (coin()) {
            inputs.add(constant(type, blocks));
        }
        Map<String, Object> attributes = Map.of("axis", (long) axis, "block_size", (long) block, "output_dtype", 1L);
        String weights = model.node(name, inputs, "w", attributes);
        end("MatMul", List.of(x(List.of(2, dims.get(0))), weights), Map.of());
    }

    /** To a type and back, since floats are compared. */
    private void quantized() {
        ElementType type = oneOf(List.of(ElementType.UINT16, ElementType.INT16, ElementType.INT8, ElementType.UINT8));
        boolean hasBlocks = below(3) == 0;
        List<Integer> dims = List.of(upTo(3), 4);
        List<Integer> parameters = hasBlocks ? List.of(dims.get(0), 2) : List.of();
        String scales = constant(parameters, () -> 0.001f + random.nextFloat() / 20);
        List<String> inputs = List.of(x(dims), scales, constant(type, parameters));
        Map<String, Object> attributes = new LinkedHashMap<>();
        if (hasBlocks) {
            attributes.put("block_size", 2L);
            attributes.put("axis", 1L);
        }
        String integers = model.node(name, inputs, "q", attributes);
        end("DequantizeLinear", List.of(integers, inputs.get(1), inputs.get(2)), attributes);
    }

    private void resize() {
        List<Integer> dims = List.of(1, upTo(2), 3 + below(8), 3 + below(8));
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put("antialias", 1L);
        attributes.put("mode", coin() ? "linear" : "cubic");
        attributes.put("exclude_outside", bit());
        float[] scales = {1, 1, 0.2f + random.nextFloat(), 0.2f + random.nextFloat()};
        scales[2] = Math.max(scales[2], 1f / dims.get(2) + 0.01f);
        scales[3] = Math.max(scales[3], 1f / dims.get(3) + 0.01f);
        node(List.of(x(dims), "", model.floats(false, scales)), attributes);
    }

    private void transposed() {
        int stride = upTo(3);
        int kernel = upTo(4);
        int channels = upTo(2);
        String x = x(List.of(1, channels, 3 + below(3)));
        List<Integer> weight = List.of(channels, upTo(2), kernel);
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put("auto_pad", coin() ? "SAME_UPPER" : "SAME_LOWER");
        attributes.put("strides", List.of((long) stride));
        attributes.put("dilations", List.of((long) upTo(2)));
        node(List.of(x, constant(weight)), attributes);
    }
}
