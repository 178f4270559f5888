// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static io.kiln.frontend.onnx.model.ElementType.FLOAT;

import io.kiln.frontend.onnx.model.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Draws fully connected layers of float data whose weights are integers of four or eight bits with a scale for each block, unit or matrix. */
public final class RandomBlockModels extends OnnxDraw {
    private static final int OPSET = 21;
    private static final int KINDS = 5;
    private static final List<ElementType> TYPES =
            List.of(ElementType.INT4, ElementType.UINT4, ElementType.INT8, ElementType.UINT8);

    private final int units;
    private final int depth;
    private final String x;

    private RandomBlockModels(long seed) {
        super(seed, KINDS, OPSET);
        this.units = upTo(19);
        this.depth = upTo(150);
        this.x = x(List.of(upTo(3), depth));
    }

    /** The model of a number; kinds take turns. */
    public static Model draw(long seed) {
        RandomBlockModels drawn = new RandomBlockModels(seed);
        int kind = (int) (seed % KINDS);
        switch (kind) {
            case 0 -> drawn.bits();
            case 1 -> drawn.product(drawn.blocks(0));
            case 2 -> drawn.product(drawn.model.node("Transpose", List.of(drawn.blocks(1)), "t", Map.of()));
            case 3 -> drawn.gemm(drawn.blocks(1));
            default -> drawn.ofUnits();
        }
        return drawn.named("blocks of kind " + kind);
    }

    private String scales(List<Integer> dims, int bits) {
        return constant(dims, () -> (0.1f + random.nextFloat()) / (1 << bits));
    }

    private void bits() {
        int bits = oneOf(List.of(4, 4, 8, 2));
        int block = 16 << below(4);
        int blocks = (depth - 1) / block + 1;
        List<String> inputs = new ArrayList<>(List.of(
                x,
                constant(ElementType.UINT8, List.of(units, blocks, block * bits / 8)),
                scales(List.of(units, blocks), bits)));
        switch (below(3)) {
            case 0 -> inputs.add("");
            case 1 -> inputs.add(constant(ElementType.UINT8, List.of(units, (blocks * bits + 7) / 8)));
            default -> inputs.add(bits == 4 ? scales(List.of(units, blocks), 0) : "");
        }
        if (coin()) {
            inputs.addAll(List.of("", scales(List.of(units), 1)));
        }
        Map<String, Object> attributes =
                Map.of("K", (long) depth, "N", (long) units, "bits", (long) bits, "block_size", (long) block);
        end("com.microsoft", "MatMulNBits", inputs, attributes);
    }

    /** Weights with blocks along the inputs, which an axis counts. */
    private String blocks(int axis) {
        ElementType type = oneOf(TYPES);
        int block = coin() ? upTo(40) : 16 << below(3);
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
        List<String> inputs = new ArrayList<>(List.of(constant(type, dims), scales(parameters, type.bits())));
        if (coin()) {
            inputs.add(constant(type, parameters));
        }
        return model.node("DequantizeLinear", inputs, "w", attributes);
    }

    private void ofUnits() {
        ElementType type = TYPES.get(below(2));
        boolean isOfUnits = coin();
        product(dequantized(type, List.of(depth, units), isOfUnits ? List.of(units) : List.of(), Map.of("axis", 1L)));
    }

    private void product(String weights) {
        end("MatMul", List.of(x, weights), Map.of());
    }

    private void gemm(String weights) {
        List<String> inputs = List.of(x, weights, scales(List.of(units), 1));
        String sum = model.node("Gemm", inputs, "s", Map.of("transB", 1L));
        model.output(coin() ? sum : model.node("Relu", List.of(sum), "y", Map.of()), FLOAT);
    }
}
