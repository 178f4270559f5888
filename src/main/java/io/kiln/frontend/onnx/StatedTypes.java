// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import io.kiln.base.Failure;
import io.kiln.frontend.GraphProblems;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.model.OnnxGraph;
import io.kiln.frontend.onnx.model.OnnxModel;
import io.kiln.frontend.onnx.model.OnnxNode;
import io.kiln.frontend.onnx.model.OnnxValueInfo;
import io.kiln.frontend.onnx.model.OnnxValueInfo.Dimension;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.type.Shape;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The types that a graph states for its values ({@code value_info}), to be compared with the computed ones. Open and
 * named dimensions, and sizes below 1, state
 * nothing.
 *
 * @param byName stated types by the value's name
 * @param hasShapes whether shapes hold too; otherwise element types only
 */
record StatedTypes(Map<String, OnnxValueInfo> byName, boolean hasShapes) {
    private static final long OPEN = -1;

    /** Nothing stated. */
    static final StatedTypes NONE = new StatedTypes(Map.of(), false);

    StatedTypes {
        byName = Map.copyOf(byName);
    }

    /**
     * The types that a model states. Shapes are ignored if an input has an open dimension, because exporters then state the sizes of their
     * example, or if the user gives an input another shape.
     */
    static StatedTypes of(OnnxModel model, InputShapes shapes) {
        Map<String, OnnxValueInfo> stated = new HashMap<>(model.graph().values());
        model.graph().outputs().forEach(output -> stated.put(output.name(), output));
        boolean hasShapes = model.graph().inputs().stream()
                .allMatch(input -> isFixed(input)
                        && Optional.ofNullable(shapes.byName().get(input.name()))
                                .map(given -> fits(input, given))
                                .orElse(true));
        return new StatedTypes(stated, hasShapes);
    }

    private static boolean isFixed(OnnxValueInfo input) {
        return input.dimensions().isPresent()
                && input.dimensions().get().stream().allMatch(d -> d.size().isPresent());
    }

    /** The types that a body states for its values; shapes count only if those of the enclosing graph do. */
    StatedTypes ofBody(OnnxGraph body) {
        return new StatedTypes(body.values(), hasShapes);
    }

    /**
     * Compares an output of a node with its stated type. Another element type is an error. Another shape is a warning: tools change nodes
     * and leave stated shapes as they were, and ONNX Runtime uses what it computes, too.
     */
    void compare(OnnxNode node, String output, OnnxValue value, GraphBuilder graph, GraphProblems problems) {
        OnnxValueInfo stated = byName.get(output);
        if (stated == null || !stated.kind().equals(OnnxValueInfo.TENSOR)) {
            return;
        }
        Shape shape = graph.type(value.arg()).shape();
        String both = "its output `" + output + "` is " + value.type().text() + shape.text() + ", but the model states "
                + stated.type().text()
                + stated.dimensions().map(StatedTypes::text).orElse("");
        boolean isOfText =
                stated.type() == ElementType.STRING && !value.labels().isEmpty();
        if (!isOfText && stated.type() != ElementType.UNDEFINED && stated.type() != value.type()) {
            problems.addAll(List.of(Failure.MODEL.problem(
                    both,
                    node.where(problems.file()),
                    "the same in the node and in value_info",
                    "Infer the types again: onnx.shape_inference.infer_shapes of a model without value_info")));
        } else if (hasShapes && !fits(stated, shape)) {
            problems.warn(Failure.MODEL.problem(both, node.where(problems.file()), "", "The computed shape is used"));
        }
    }

    /** Whether known sizes are the same; in other ranks those except 1, which some exporters leave out. */
    private static boolean fits(OnnxValueInfo stated, Shape shape) {
        List<Long> sizes = stated.dimensions().orElse(List.of()).stream()
                .map(d -> d.size().filter(s -> s > 0).orElse(OPEN))
                .toList();
        List<Long> actual = shape.dims().stream().map(Long::valueOf).toList();
        if (sizes.size() != actual.size()) {
            return stated.dimensions().isEmpty()
                    || sizes.contains(OPEN)
                    || withoutOnes(sizes).equals(withoutOnes(actual));
        }
        return IntStream.range(0, actual.size())
                .allMatch(i -> sizes.get(i) == OPEN || sizes.get(i).equals(actual.get(i)));
    }

    private static List<Long> withoutOnes(List<Long> sizes) {
        return sizes.stream().filter(size -> size != 1).toList();
    }

    private static String text(List<Dimension> dimensions) {
        return dimensions.stream()
                .map(d -> d.size().map(String::valueOf).orElse(d.name().isEmpty() ? "?" : d.name()))
                .collect(Collectors.joining(", ", "(", ")"));
    }
}
