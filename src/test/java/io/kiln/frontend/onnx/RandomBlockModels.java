// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static io.kiln.frontend.onnx.model.ElementType.FLOAT;

import io.kiln.frontend.onnx.model.ElementType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Draws fully connected layers of float data whose weights are integers of four or eight bits with a scale for each block, unit or matrix. */
public final class RandomBlockModels {
    private static final int OPSET = 21;
    private static final int KINDS = 5;
    private static final List<ElementType> TYPES =
            List.of(ElementType.INT4, ElementType.UINT4, ElementType.INT8, ElementType.UINT8);

    private final Random random;
    private final ModelBuilder model = new ModelBuilder(OPSET);
    private final int units;
    private final int depth;
    private final String x;

    private RandomBlockModels(long seed) {
        this.random = new Random(seed);
        this.units = 1 + random.nextInt(19);
        this.depth = 1 + random.nextInt(150);
        this.x = model.input("x", FLOAT, List.of(1 + random.nextInt(3), depth));
    }

    /** The model of a number; kinds take turns. */
    public static RandomFloatModels.Model draw(long seed) {
        RandomBlockModels drawn = new RandomBlockModels(seed);
        int kind = (int) (seed % KINDS);
        switch (kind) {
            case 0 -> drawn.bits();
            case 1 -> drawn.product(drawn.blocks(0));
            case 2 -> drawn.product(drawn.model.node("Transpose", List.of(drawn.blocks(1)), "t", Map.of()));
            case 3 -> drawn.gemm(drawn.blocks(1));
            default -> drawn.ofUnits();
        }
        return new RandomFloatModels.Model("blocks of kind " + kind, drawn.model.build());
    }

    private String bytes(ElementType type, List<Integer> dims) {
        int count = dims.stream().reduce(1, Math::multiplyExact);
        byte[] data = new byte[(count * type.bits() + 7) / 8];
        random.nextBytes(data);
        return model.constant(type, dims, data);
    }

    private String scales(List<Integer> dims, int bits) {
        int count = dims.stream().reduce(1, Math::multiplyExact);
        ByteBuffer data = ByteBuffer.allocate(Float.BYTES * count).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            data.putFloat((0.1f + random.nextFloat()) / (1 << bits));
        }
        return model.constant(FLOAT, dims, data.array());
    }

    private void bits() {
        int bits = List.of(4, 4, 8, 2).get(random.nextInt(4));
        int block = 16 << random.nextInt(4);
        int blocks = (depth - 1) / block + 1;
        List<String> inputs = new ArrayList<>(List.of(
                x,
                bytes(ElementType.UINT8, List.of(units, blocks, block * bits / 8)),
                scales(List.of(units, blocks), bits)));
        switch (random.nextInt(3)) {
            case 0 -> inputs.add("");
            case 1 -> inputs.add(bytes(ElementType.UINT8, List.of(units, (blocks * bits + 7) / 8)));
            default -> inputs.add(bits == 4 ? scales(List.of(units, blocks), 0) : "");
        }
        if (random.nextBoolean()) {
            inputs.addAll(List.of("", scales(List.of(units), 1)));
        }
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put("K", (long) depth);
        attributes.put("N", (long) units);
        attributes.put("bits", (long) bits);
        attributes.put("block_size", (long) block);
        model.output(model.node("com.microsoft", "MatMulNBits", inputs, "y", attributes), FLOAT);
    }

    /** Weights with blocks along the inputs, which an axis counts. */
    private String blocks(int axis) {
        ElementType type = TYPES.get(random.nextInt(TYPES.size()));
        int block = random.nextBoolean() ? 1 + random.nextInt(40) : 16 << random.nextInt(3);
        int blocks = (depth - 1) / block + 1;
        List<Integer> parameters = axis == 0 ? List.of(blocks, units) : List.of(units, blocks);
        return dequantized(
                type,
                axis == 0 ? List.of(depth, units) : List.of(units, depth),
                parameters,
                Map.of("axis", (long) axis, "block_size", (long) block));
    }

    private String dequantized(
            ElementType type, List<Integer> dims, List<Integer> parameters, Map<String, Object> attributes) {
        List<String> inputs = new ArrayList<>(List.of(bytes(type, dims), scales(parameters, type.bits())));
        if (random.nextBoolean()) {
            inputs.add(bytes(type, parameters));
        }
        return model.node("DequantizeLinear", inputs, "w", attributes);
    }

    private void ofUnits() {
        ElementType type = TYPES.get(random.nextInt(2));
        boolean isOfUnits = random.nextBoolean();
        product(dequantized(type, List.of(depth, units), isOfUnits ? List.of(units) : List.of(), Map.of("axis", 1L)));
    }

    private void product(String weights) {
        model.output(model.node("MatMul", List.of(x, weights), "y", Map.of()), FLOAT);
    }

    private void gemm(String weights) {
        List<String> inputs = List.of(x, weights, scales(List.of(units), 1));
        String sum = model.node("Gemm", inputs, "s", Map.of("transB", 1L));
        model.output(random.nextBoolean() ? sum : model.node("Relu", List.of(sum), "y", Map.of()), FLOAT);
    }
}
