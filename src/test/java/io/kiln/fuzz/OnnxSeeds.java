// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import io.kiln.base.Bytes;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.model.ElementType;
import java.util.List;
import java.util.Map;

/** Small ONNX models to start from. */
final class OnnxSeeds {
    private static final int OPSET = 13;

    private OnnxSeeds() {}

    static List<Bytes> all() {
        return List.of(network(), shapes(), pooled());
    }

    private static Bytes network() {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", ElementType.FLOAT, List.of(1, 1, 4, 4));
        String weight = model.constant(ElementType.FLOAT, List.of(2, 1, 3, 3), new byte[72]);
        String bias = model.floats(false, 1, 2);
        model.node("Conv", List.of("x", weight, bias), "a", Map.of("pads", List.of(1L, 1L, 1L, 1L)));
        model.node("Relu", List.of("a"), "b", Map.of());
        model.node("Flatten", List.of("b"), "c", Map.of());
        String matrix = model.constant(ElementType.FLOAT, List.of(3, 32), new byte[384]);
        model.node("Gemm", List.of("c", matrix), "d", Map.of("transB", 1L));
        model.node("Softmax", List.of("d"), "y", Map.of());
        model.output("y", ElementType.FLOAT, List.of(1, 3));
        return model.build();
    }

    private static Bytes shapes() {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", ElementType.FLOAT, List.of(2, 3, 4));
        model.node("Shape", List.of("x"), "s", Map.of());
        String first = model.constant(ElementType.INT64, List.of(1), new byte[8]);
        model.node("Gather", List.of("s", first), "n", Map.of("axis", 0L));
        String rest = model.constant(ElementType.INT64, List.of(1), new byte[] {-1, -1, -1, -1, -1, -1, -1, -1});
        model.node("Concat", List.of("n", rest), "t", Map.of("axis", 0L));
        model.node("Reshape", List.of("x", "t"), "r", Map.of());
        model.node("Transpose", List.of("r"), "u", Map.of("perm", List.of(1L, 0L)));
        model.node("ReduceMean", List.of("u"), "y", Map.of("axes", List.of(0L), "keepdims", 0L));
        model.output("y", ElementType.FLOAT, List.of(2));
        return model.build();
    }

    private static Bytes pooled() {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", ElementType.FLOAT, List.of(1, 2, 6, 6));
        model.node("MaxPool", List.of("x"), "a", Map.of("kernel_shape", List.of(2L, 2L), "strides", List.of(2L, 2L)));
        model.node("Add", List.of("a", model.floats(true, 0.5f)), "b", Map.of());
        model.node("GlobalAveragePool", List.of("b"), "c", Map.of());
        model.node("Sigmoid", List.of("c"), "y", Map.of());
        model.output("y", ElementType.FLOAT, List.of(1, 2, 1, 1));
        return model.build();
    }
}
