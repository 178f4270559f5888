// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.tensor;

import io.kiln.base.NearMiss;
import io.kiln.base.Problems;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.tflite.flatbuffer.FlatTable;
import io.kiln.frontend.tflite.schema.ModelTables.Tensor;
import io.kiln.ir.type.Shape;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The shapes of inputs: those given by the user, and those that the file leaves open.
 *
 * <p>A file states a shape and may also state a signature, in which -1 means any size; the shape then has a 1. An open
 * first dimension, the batch, is taken as the file's 1. Any other open dimension must be given.
 */
final class GivenShapes {
    private final Map<Integer, Shape> byTensor = new HashMap<>();
    private final boolean open;

    /** An input tensor in the file. */
    private record Input(int index, String name, FlatTable table) {}

    /**
     * Finds the inputs for the given shapes; unknown names and shapes of another rank are reported.
     *
     * @param inputs indices of the model's inputs, unchecked
     */
    GivenShapes(TensorReader tensors, int[] inputs, InputShapes given, String file, Problems problems) {
        Map<String, Input> byName = new LinkedHashMap<>();
        for (int index : inputs) {
            if (index >= 0 && index < tensors.count()) {
                Input input = new Input(index, tensors.name(index), tensors.table(index));
                byName.put(input.name, input);
            }
        }
        given.byName().forEach((name, shape) -> {
            Input input = byName.get(name);
            if (input == null) {
                problems.add(
                        "kiln.inputShapes names `" + name + "`, which is not an input of the model",
                        file,
                        "one of " + String.join(", ", byName.keySet()),
                        NearMiss.didYouMean(name, byName.keySet()));
            } else {
                add(input, shape, file, problems);
            }
        });
        open = byName.values().stream().anyMatch(i -> !byTensor.containsKey(i.index) && isOpen(i.table));
    }

    private void add(Input input, Shape shape, String file, Problems problems) {
        int rank = input.table.get(Tensor.SHAPE).size();
        if (rank != shape.rank() && rank != 0) {
            problems.add(
                    "kiln.inputShapes gives the shape " + shape.text() + " of rank " + shape.rank(),
                    file + ": model input `" + input.name + "`",
                    "rank " + rank + ": " + example(input.name, input.table),
                    "");
        }
        byTensor.put(input.index, shape);
    }

    /** The shape given for a tensor. */
    Optional<Shape> of(int tensor) {
        return Optional.ofNullable(byTensor.get(tensor));
    }

    /** Whether the shapes of computed tensors are inferred from the inputs, ignoring those in the file. */
    boolean areInferred() {
        return open || !byTensor.isEmpty();
    }

    /** Dimensions that the file leaves open, except for the batch. */
    static List<Integer> openDimensions(FlatTable tensor) {
        int[] dims = tensor.get(Tensor.SHAPE).ints();
        int[] signature = tensor.get(Tensor.SHAPE_SIGNATURE).ints();
        return IntStream.range(0, dims.length)
                .filter(i -> dims[i] < 1 || (i > 0 && signature.length == dims.length && signature[i] == -1))
                .boxed()
                .toList();
    }

    private static boolean isOpen(FlatTable tensor) {
        return tensor.get(Tensor.SHAPE).size() <= TensorReader.MAX_RANK
                && !openDimensions(tensor).isEmpty();
    }

    /** The setting to suggest, with a question mark for every open dimension. */
    static String example(String name, FlatTable tensor) {
        List<Integer> open = openDimensions(tensor);
        int[] dims = tensor.get(Tensor.SHAPE).ints();
        return "kiln.inputShapes=" + name + ":"
                + IntStream.range(0, dims.length)
                        .mapToObj(i -> open.contains(i) ? "?" : String.valueOf(dims[i]))
                        .collect(Collectors.joining(","));
    }
}
