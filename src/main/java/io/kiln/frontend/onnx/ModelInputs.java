// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import io.kiln.base.Failure;
import io.kiln.frontend.GraphProblems;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.model.OnnxModel;
import io.kiln.frontend.onnx.model.OnnxValueInfo;
import io.kiln.frontend.onnx.model.OnnxValueInfo.Dimension;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Shapes of a model's inputs: the user's, or the file's. A named dimension has one size in all inputs; an open first
 * dimension, the batch, is 1.
 */
final class ModelInputs {
    private static final int MAX_RANK = 8;

    private final OnnxModel model;
    private final InputShapes shapes;
    private final GraphProblems problems;
    private final Map<String, Long> named = new HashMap<>();

    ModelInputs(OnnxModel model, InputShapes shapes, GraphProblems problems) {
        this.model = model;
        this.shapes = shapes;
        this.problems = problems;
    }

    /** Types by input, in the model's order; inputs with a problem are missing. */
    Map<OnnxValueInfo, TensorType> types() {
        Map<OnnxValueInfo, TensorType> types = new LinkedHashMap<>();
        Set<String> names = new HashSet<>();
        List<OnnxValueInfo> inputs = model.graph().inputs();
        inputs.forEach(this::bindNames);
        for (OnnxValueInfo input : inputs) {
            if (!names.add(input.name())) {
                problems.add("the input exists twice", where(input), "every input once");
            } else {
                type(input).ifPresent(type -> types.put(input, type));
            }
        }
        shapes.byName().keySet().stream()
                .filter(name -> !names.contains(name))
                .forEach(name -> problems.add(
                        "kiln.inputShapes names `" + name + "`",
                        model.file(),
                        "one of the inputs " + String.join(", ", names)));
        return types;
    }

    /** The user's shapes give the sizes of named dimensions. */
    private void bindNames(OnnxValueInfo input) {
        Shape given = shapes.byName().get(input.name());
        List<Dimension> dimensions = input.dimensions().orElse(List.of());
        if (given == null || given.rank() != dimensions.size()) {
            return;
        }
        for (int i = 0; i < given.rank(); i++) {
            String name = dimensions.get(i).name();
            if (!name.isEmpty()) {
                named.putIfAbsent(name, (long) given.dim(i));
            }
        }
    }

    private Optional<TensorType> type(OnnxValueInfo input) {
        if (!input.kind().equals(OnnxValueInfo.TENSOR) || input.type().held().isEmpty()) {
            problems.add(
                    input.kind().equals(OnnxValueInfo.TENSOR)
                            ? "the input is a tensor of " + input.type().text()
                            : "the input is not a tensor (" + input.kind() + ")",
                    where(input),
                    "a tensor of numbers");
            return Optional.empty();
        }
        Optional<Shape> shape = Optional.ofNullable(shapes.byName().get(input.name()));
        if (shape.isPresent()) {
            checkGiven(input, shape.orElseThrow());
        } else {
            shape = stated(input);
        }
        return shape.map(s -> new TensorType(s, input.type().held().orElseThrow()))
                .filter(type -> isValid(input, type));
    }

    private void checkGiven(OnnxValueInfo input, Shape given) {
        input.dimensions()
                .filter(dimensions -> dimensions.size() != given.rank())
                .ifPresent(dimensions -> problems.add(
                        "kiln.inputShapes gives it the shape " + given.text(),
                        where(input),
                        dimensions.size() + " dimensions"));
    }

    private Optional<Shape> stated(OnnxValueInfo input) {
        if (input.dimensions().isEmpty()) {
            problems.add("the shape of the input is not stated", where(input), "a shape: set kiln.inputShapes");
            return Optional.empty();
        }
        List<Integer> dims = new ArrayList<>();
        List<Dimension> stated = input.dimensions().orElseThrow();
        if (stated.size() > MAX_RANK) {
            problems.add("the input has " + stated.size() + " dimensions", where(input), "at most " + MAX_RANK);
            return Optional.empty();
        }
        for (int i = 0; i < stated.size(); i++) {
            Dimension dimension = stated.get(i);
            Optional<Long> known = dimension.size().or(() -> Optional.ofNullable(named.get(dimension.name())));
            long size = known.orElse(i == 0 ? 1L : 0L);
            if (known.isEmpty() && i > 0) {
                problems.addAll(List.of(Failure.MODEL.problem(
                        "dimension " + i + " of the input is open"
                                + (dimension.name().isEmpty() ? "" : " (`" + dimension.name() + "`)"),
                        where(input),
                        "a size",
                        "Set kiln.inputShapes")));
                return Optional.empty();
            }
            if (size < 1 || size > Integer.MAX_VALUE) {
                problems.add("dimension " + i + " of the input is " + size, where(input), "at least 1");
                return Optional.empty();
            }
            dims.add((int) size);
        }
        return Optional.of(new Shape(dims));
    }

    private boolean isValid(OnnxValueInfo input, TensorType type) {
        boolean isValid = type.shape().rank() <= MAX_RANK && !type.isLargerThan(TensorType.MAX_BYTES);
        if (!isValid) {
            problems.add(
                    "the input is " + type.text(),
                    where(input),
                    "at most " + MAX_RANK + " dimensions and " + TensorType.MAX_BYTES + " bytes");
        }
        return isValid;
    }

    private String where(OnnxValueInfo input) {
        return model.file() + ": input `" + input.name() + "`";
    }
}
