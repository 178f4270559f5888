// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static io.kiln.frontend.onnx.model.ElementType.INT8;
import static io.kiln.frontend.onnx.model.ElementType.UINT8;

import io.kiln.base.Bytes;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.model.ElementType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Draws operators on bytes whose results depend on the roundings of single precision: softmax, its logarithm, and means near halves. */
public final class RandomSingles {
    /** Versions of ONNX's operators; windows are summed in another order from 19 on. */
    private static final int[] VERSIONS = {11, 13, 19};

    private static final List<String> OPERATORS = List.of(
            "Softmax",
            "AveragePool",
            "GlobalAveragePool",
            "ReduceMean",
            "QLinearSoftmax",
            "QLinearAveragePool",
            "LogSoftmax");

    private final Random random;
    private final ElementType type;
    private final int version;
    private final ModelBuilder model;
    private final String name;

    private RandomSingles(long seed) {
        this.random = new Random(seed);
        this.type = random.nextBoolean() ? UINT8 : INT8;
        this.version = VERSIONS[random.nextInt(VERSIONS.length)];
        this.model = new ModelBuilder(version);
        this.name = OPERATORS.get((int) (seed % OPERATORS.size()));
    }

    /** The model of a number; operators take turns. */
    public static RandomModels.Model draw(long seed) {
        RandomSingles drawn = new RandomSingles(seed);
        switch (drawn.name) {
            case "Softmax", "LogSoftmax", "QLinearSoftmax" -> drawn.softmax();
            case "AveragePool", "QLinearAveragePool" -> drawn.windows();
            default -> drawn.whole();
        }
        Bytes file = drawn.model.build();
        return new RandomModels.Model(drawn.name + " of version " + drawn.version, file);
    }

    private List<String> parameters(float scale, int zero) {
        return List.of(
                model.floats(true, scale), model.bytes(type, true, type == UINT8 ? zero - Byte.MIN_VALUE : zero));
    }

    private int zero() {
        return random.nextInt(256) - 128;
    }

    private float scale() {
        return (float) Math.exp(-5 + 3 * random.nextDouble());
    }

    private void emit(
            List<Integer> dims,
            List<Integer> results,
            float from,
            float to,
            int zeroPoint,
            Map<String, Object> attributes) {
        List<String> inputs = new ArrayList<>(List.of(model.input("x", type, dims)));
        inputs.addAll(parameters(from, zero()));
        if (name.startsWith("Q")) {
            inputs.addAll(parameters(to, zeroPoint));
            model.output(model.node("com.microsoft", name, inputs, "result", attributes), type, results);
            return;
        }
        String real = model.node("DequantizeLinear", inputs, "real", Map.of());
        List<String> result = new ArrayList<>(List.of(model.node(name, List.of(real), "computed", attributes)));
        result.addAll(parameters(to, zeroPoint));
        model.output(model.node("QuantizeLinear", result, "result", Map.of()), type, results);
    }

    private void softmax() {
        int classes =
                name.startsWith("Q") ? 2 + random.nextInt(30) : 1 + random.nextInt(random.nextBoolean() ? 16 : 70);
        List<Integer> dims = List.of(3, 1 + random.nextInt(9), classes);
        boolean isUsual = random.nextBoolean() || name.startsWith("Q");
        float to =
                isUsual ? (random.nextBoolean() ? 1f / 256 : 1f / 255) : (float) (0.002 + 0.01 * random.nextDouble());
        int zeroPoint = isUsual ? -128 : zero();
        if (name.startsWith("Log")) {
            to = isUsual ? 1f / 16 : 10 * to;
            zeroPoint = isUsual ? 127 : zero();
        }
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put("axis", (long) random.nextInt(3));
        if (name.startsWith("Q")) {
            attributes.put("axis", 2L);
            attributes.put("opset", 13L);
        }
        emit(dims, dims, scale(), to, zeroPoint, attributes);
    }

    private void windows() {
        int kernelH = 1 + random.nextInt(4);
        int kernelW = 1 + random.nextInt(4);
        int stride = 1 + random.nextInt(4);
        int height = kernelH + random.nextInt(7);
        int width = kernelW + random.nextInt(7);
        int padH = random.nextInt(kernelH);
        int padW = random.nextInt(kernelW);
        int channels = 1 + random.nextInt(5);
        float from = scale();
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put("kernel_shape", List.of((long) kernelH, (long) kernelW));
        attributes.put("strides", List.of((long) stride, (long) stride));
        attributes.put("pads", List.of((long) padH, (long) padW, (long) padH, (long) padW));
        attributes.put("count_include_pad", (long) random.nextInt(2));
        int outH = (height + 2 * padH - kernelH) / stride + 1;
        int outW = (width + 2 * padW - kernelW) / stride + 1;
        float to = random.nextBoolean() ? from : from / 2;
        emit(List.of(1, channels, height, width), List.of(1, channels, outH, outW), from, to, zero(), attributes);
    }

    private void whole() {
        int height = 1 + random.nextInt(9);
        int width = 1 + random.nextInt(9);
        int channels = 1 + random.nextInt(9);
        float from = scale();
        float to = random.nextBoolean() ? from : from / 4;
        boolean isGlobal = name.startsWith("Global");
        List<Long> axes = List.of(List.of(2L, 3L), List.of(1L), List.of(1L, 2L), List.of(1L, 3L))
                .get(random.nextInt(4));
        Map<String, Object> attributes = isGlobal ? Map.of() : Map.of("axes", axes);
        int batch = 1 + random.nextInt(2);
        List<Integer> results = new ArrayList<>(List.of(batch, channels, height, width));
        (isGlobal ? List.of(2L, 3L) : axes).forEach(axis -> results.set(axis.intValue(), 1));
        if (!isGlobal && version >= 18) {
            whole(List.of(batch, channels, height, width), results, from, to, axes);
        } else {
            emit(List.of(batch, channels, height, width), results, from, to, zero(), attributes);
        }
    }

    /** From version 18 on, axes are an input. */
    private void whole(List<Integer> dims, List<Integer> results, float from, float to, List<Long> axes) {
        List<String> inputs = new ArrayList<>(List.of(model.input("x", type, dims)));
        inputs.addAll(parameters(from, zero()));
        byte[] data = new byte[8 * axes.size()];
        for (int i = 0; i < axes.size(); i++) {
            data[8 * i] = axes.get(i).byteValue();
        }
        String list = model.constant(ElementType.INT64, List.of(axes.size()), data);
        String real = model.node("DequantizeLinear", inputs, "real", Map.of());
        List<String> result = new ArrayList<>(List.of(model.node(name, List.of(real, list), "computed", Map.of())));
        result.addAll(parameters(to, zero()));
        model.output(model.node("QuantizeLinear", result, "result", Map.of()), type, results);
    }
}
