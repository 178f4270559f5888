// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.Problem;
import io.kiln.frontend.GraphProblems;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.InputValues;
import io.kiln.frontend.onnx.model.OnnxModel;
import io.kiln.frontend.onnx.model.OnnxValueInfo;
import io.kiln.frontend.onnx.model.OnnxValueInfo.Dimension;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

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
        Set<String> names = new LinkedHashSet<>();
        List<OnnxValueInfo> inputs = model.graph().inputs();
        inputs.forEach(this::bindNames);
        for (OnnxValueInfo input : inputs) {
            if (!names.add(input.name())) {
                problems.add("the input exists twice", where(input), "every input once");
            } else {
                type(input).ifPresent(type -> types.put(input, type));
            }
        }
        unknown("kiln.inputShapes", shapes.byName().keySet(), names);
        unknown("kiln.inputValues", shapes.values().byName().keySet(), names);
        return types;
    }

    private void unknown(String parameter, Set<String> given, Set<String> names) {
        for (String name : given) {
            if (!names.contains(name)) {
                boolean isConstant = model.graph().initializers().containsKey(name);
                problems.addAll(List.of(Failure.CONFIG.problem(
                        parameter + " names `" + name + "`" + (isConstant ? ", a constant of the model" : ""),
                        model.file(),
                        "one of the inputs " + String.join(", ", names),
                        "Correct " + parameter)));
            }
        }
    }

    /** The constant that an input becomes by {@code kiln.inputValues}; empty if it stays an input. */
    Optional<Constant> value(OnnxValueInfo input, TensorType type) {
        return Optional.ofNullable(shapes.values().byName().get(input.name())).map(value -> {
            boolean isFlat = value.dims().size() <= 1
                    && value.numbers().size() == type.shape().elements();
            if (!isFlat && !value.dims().equals(type.shape().dims())) {
                problems.addAll(List.of(wrong(input, "the shape " + new Shape(value.dims()).text(), type.text())));
                return new Constant(input.name(), type, Bytes.wrap(new byte[(int) type.bytes()]));
            }
            ByteBuffer data = ByteBuffer.allocate((int) type.bytes()).order(ByteOrder.LITTLE_ENDIAN);
            for (BigDecimal number : value.numbers()) {
                if (!input.type().holds(number)) {
                    problems.addAll(List.of(wrong(
                            input,
                            "the number " + number,
                            "numbers of type " + input.type().text())));
                    break;
                }
                switch (type.dtype()) {
                    case FLOAT32 -> data.putFloat(number.floatValue());
                    case INT64, UINT64 -> data.putLong(number.longValue());
                    case INT32, UINT32 -> data.putInt(number.intValue());
                    case INT16 -> data.putShort(number.shortValue());
                    case INT8, UINT8, BOOL -> data.put(number.byteValue());
                }
            }
            return new Constant(input.name(), type, Bytes.wrap(data.array()));
        });
    }

    private Problem wrong(OnnxValueInfo input, String what, String expected) {
        return Failure.CONFIG.problem(
                "kiln.inputValues gives it " + what, where(input), expected, "Correct kiln.inputValues");
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
        if (!input.kind().equals(OnnxValueInfo.TENSOR)
                || input.type().held().isEmpty()
                || input.type().isOfConstants()) {
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
            shape = ofValue(input).or(() -> stated(input));
        }
        return shape.map(s -> new TensorType(s, input.type().held().orElseThrow()))
                .filter(type -> isValid(input, type));
    }

    /** The shape of an input's value, if it has one for each open dimension. */
    private Optional<Shape> ofValue(OnnxValueInfo input) {
        List<Dimension> stated = input.dimensions().orElse(List.of());
        return Optional.ofNullable(shapes.values().byName().get(input.name()))
                .map(InputValues.Value::dims)
                .filter(dims -> !dims.isEmpty() && (input.dimensions().isEmpty() || fit(stated, dims)))
                .map(Shape::new);
    }

    private static boolean fit(List<Dimension> stated, List<Integer> dims) {
        return stated.size() == dims.size()
                && IntStream.range(0, dims.size())
                        .allMatch(i -> stated.get(i)
                                .size()
                                .map(size -> size == (long) dims.get(i))
                                .orElse(true));
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
