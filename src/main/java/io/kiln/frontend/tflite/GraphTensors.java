// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.KilnException;
import io.kiln.frontend.GraphProblems;
import io.kiln.frontend.tflite.flatbuffer.FlatVector;
import io.kiln.frontend.tflite.operator.SignedBytes;
import io.kiln.frontend.tflite.operator.TensorValues;
import io.kiln.frontend.tflite.tensor.TensorReader;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Constant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The tensors of a subgraph, updated while its operators are read. */
final class GraphTensors {
    private final TensorReader reader;
    private final TensorValues values;
    private final GraphProblems problems;

    GraphTensors(TensorReader reader, TensorValues values, GraphProblems problems) {
        this.reader = reader;
        this.values = values;
        this.problems = problems;
    }

    int count() {
        return reader.count();
    }

    boolean exists(int index) {
        return index >= 0 && index < reader.count();
    }

    /** Whether the shapes of computed tensors are inferred from the inputs, ignoring those in the file. */
    boolean shapesAreInferred() {
        return reader.shapesAreInferred();
    }

    /** The tensor at a valid index, with its value or shape in the graph; empty if it cannot be read. */
    Optional<TfliteTensor> tensor(int index) {
        try {
            TfliteTensor tensor = reader.tensor(index);
            return Optional.of(values.value(index)
                    .map(value -> value instanceof Constant constant
                            ? tensor.withValue(SignedBytes.of(constant, tensor.dtype()))
                            : tensor.withShape(values.graph().type(value).shape()))
                    .orElse(tensor));
        } catch (KilnException e) {
            problems.addAll(e.problems());
            return Optional.empty();
        }
    }

    /** A description for messages, even of a tensor that cannot be read. */
    String describe(int index) {
        return reader.describe(index);
    }

    /** As {@link #describe(int)}, for the first eight. */
    String describe(FlatVector indices) {
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < indices.size() && i < 8; i++) {
            texts.add(describe(indices.i32(i)));
        }
        return String.join(", ", texts) + (indices.size() > 8 ? ", …" : "");
    }
}
