// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static io.kiln.frontend.onnx.model.ElementType.FLOAT;
import static io.kiln.frontend.onnx.model.ElementType.INT32;
import static io.kiln.frontend.onnx.model.ElementType.INT64;
import static io.kiln.frontend.onnx.model.ElementType.UINT8;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.frontend.InputShapes;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Models with operators that are read, each in a form that is not, and what is said about it. */
final class RefusedForms {
    private static final int OPSET = 24;

    private RefusedForms() {}

    /** One model. */
    private record Form(String domain, String operator, List<String> inputs, Map<String, Object> attributes) {
        Form(String operator, List<String> inputs, Map<String, Object> attributes) {
            this("", operator, inputs, attributes);
        }

        Problem problem() {
            ModelBuilder model = new ModelBuilder(OPSET);
            model.input("x", FLOAT, List.of(1, 4, 6, 6));
            model.input("n", INT64, List.of(1));
            model.input("rows", FLOAT, List.of(2, 16));
            model.input("scale", FLOAT, List.of(1));
            model.input("q", UINT8, List.of(2, 16));
            model.input("order", INT32, List.of(16));
            // The names c0 to c4.
            model.bytes(UINT8, true, 1);
            model.constant(UINT8, List.of(3, 1, 8), new byte[24]);
            model.floats(false, 1, 1, 1);
            model.floats(false, 1, 1, 0.5f, 0.5f);
            model.floats(false, 0, 0, 0, 0, 1, 1, 1, 1);
            model.node(domain, operator, inputs, "y", attributes);
            model.output("y", FLOAT);
            try {
                OnnxFrontend.read(model.build(), "m.onnx", "m", InputShapes.NONE);
            } catch (KilnException refused) {
                return refused.problems().get(0);
            }
            throw new AssertionError(operator + " is read: " + inputs + " " + attributes);
        }
    }

    private static Map<String, Object> bits(long bits, long block) {
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put("K", 16L);
        attributes.put("N", 3L);
        attributes.put("bits", bits);
        attributes.put("block_size", block);
        return attributes;
    }

    private static List<Form> all() {
        return List.of(
                new Form("Cast", List.of("x"), Map.of("to", 8L)),
                new Form("Cast", List.of("x"), Map.of("to", 17L)),
                new Form("Cast", List.of("x"), Map.of("to", 22L)),
                new Form("QuantizeLinear", List.of("rows", "scale"), Map.of("output_dtype", 17L)),
                new Form("QuantizeLinear", List.of("rows", "scale"), Map.of("precision", 10L)),
                new Form("QLinearMatMul", List.of("q", "scale", "c0", "q", "scale", "c0", "scale", "c0"), Map.of()),
                new Form("com.microsoft", "MatMulNBits", List.of("rows", "c1", "c2"), bits(3, 16)),
                new Form("com.microsoft", "MatMulNBits", List.of("rows", "c1", "c2", "", "order"), bits(4, 16)),
                new Form("com.microsoft", "MatMulNBits", List.of("rows", "c1", "scale"), bits(4, 16)),
                new Form("Reshape", List.of("x", "n"), Map.of()),
                new Form("Slice", List.of("x", "n", "n"), Map.of()),
                new Form("Split", List.of("x", "n"), Map.of()),
                new Form("Tile", List.of("x", "n"), Map.of()),
                new Form("TopK", List.of("x", "n"), Map.of()),
                new Form("NonZero", List.of("x"), Map.of()),
                new Form("Unique", List.of("x"), Map.of()),
                new Form("Resize", List.of("x", "", "scale"), Map.of()),
                new Form(
                        "Resize",
                        List.of("x", "c4", "c3"),
                        Map.of(
                                "antialias",
                                1L,
                                "mode",
                                "linear",
                                "coordinate_transformation_mode",
                                "tf_crop_and_resize")),
                new Form("TfIdfVectorizer", List.of("x"), Map.of()),
                new Form("LpNormalization", List.of("x"), Map.of("p", 3L)));
    }

    /** A row of a table for each: the operator, the form, and what is expected. */
    static String rows() {
        StringBuilder rows = new StringBuilder("\n| operator | form | expected |\n|---|---|---|\n");
        for (Form form : all()) {
            Problem problem = form.problem();
            rows.append("| `")
                    .append(form.domain.isEmpty() ? form.operator : form.domain + "." + form.operator)
                    .append("` | ")
                    .append(problem.what())
                    .append(" | ")
                    .append(problem.expected())
                    .append(problem.next().isEmpty() ? "" : ". " + problem.next())
                    .append(" |\n");
        }
        return rows.toString();
    }
}
