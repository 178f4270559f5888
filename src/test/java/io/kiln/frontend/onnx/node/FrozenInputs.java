// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.node;

import io.kiln.frontend.onnx.model.OnnxModel;
import io.kiln.frontend.onnx.model.OnnxNode;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Inputs that decide the shape of a result, how many steps run, or which program: Kiln wants them known at build time. */
final class FrozenInputs {
    private static final Map<String, Set<Integer>> BY_OPERATOR = Map.ofEntries(
            Map.entry("Reshape", Set.of(1)),
            Map.entry("Expand", Set.of(1)),
            Map.entry("Tile", Set.of(1)),
            Map.entry("Slice", Set.of(1, 2, 3, 4)),
            Map.entry("Pad", Set.of(1, 3)),
            Map.entry("Resize", Set.of(1, 2, 3)),
            Map.entry("Upsample", Set.of(1)),
            Map.entry("Squeeze", Set.of(1)),
            Map.entry("Unsqueeze", Set.of(1)),
            Map.entry("Split", Set.of(1)),
            Map.entry("ReduceSum", Set.of(1)),
            Map.entry("OneHot", Set.of(1)),
            Map.entry("TopK", Set.of(1)),
            Map.entry("Range", Set.of(0, 1, 2)),
            Map.entry("ConstantOfShape", Set.of(0)),
            Map.entry("CumSum", Set.of(1)),
            Map.entry("Trilu", Set.of(1)),
            Map.entry("Compress", Set.of(1)),
            Map.entry("Dropout", Set.of(1, 2)),
            Map.entry("MaxUnpool", Set.of(2)),
            Map.entry("LSTM", Set.of(4)),
            Map.entry("NonZero", Set.of(0)),
            Map.entry("Unique", Set.of(0)),
            Map.entry("NonMaxSuppression", Set.of(0, 1, 2, 3, 4)),
            Map.entry("CenterCropPad", Set.of(1)),
            Map.entry("AffineGrid", Set.of(1)),
            Map.entry("Adagrad", Set.of(1)),
            Map.entry("Adam", Set.of(1)),
            Map.entry("Momentum", Set.of(1)),
            Map.entry("Loop", Set.of(0, 1)),
            Map.entry("QLinearConv", Set.of(1, 2, 3, 4, 5, 6, 7)),
            Map.entry("QLinearMatMul", Set.of(1, 2, 4, 5, 6, 7)),
            Map.entry("DFT", Set.of(1)),
            Map.entry("STFT", Set.of(1, 3)),
            Map.entry("HannWindow", Set.of(0)),
            Map.entry("HammingWindow", Set.of(0)),
            Map.entry("BlackmanWindow", Set.of(0)),
            Map.entry("MelWeightMatrix", Set.of(0, 1, 2, 3, 4)));

    /** Models that compute such an input from others. */
    private static final List<String> WHOLLY =
            List.of("test_range_", "test_reshape_", "test_blackmanwindow", "test_hannwindow", "test_hammingwindow");

    private FrozenInputs() {}

    /** Names of a model's inputs that are frozen to the values of its test. */
    static Set<String> of(String test, OnnxModel model) {
        Set<String> frozen = new HashSet<>();
        for (OnnxNode node : model.graph().nodes()) {
            for (int i = 0; i < node.inputs().size(); i++) {
                if (BY_OPERATOR.getOrDefault(node.operator(), Set.of()).contains(i)) {
                    frozen.add(node.inputs().get(i));
                }
            }
        }
        if (test.startsWith("test_castlike_")) {
            frozen.add("like");
        }
        boolean isWhole = test.endsWith("_expanded") && WHOLLY.stream().anyMatch(test::startsWith);
        if (isWhole) {
            model.graph().inputs().forEach(input -> frozen.add(input.name()));
        }
        return frozen;
    }
}
