// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import io.kiln.frontend.onnx.control.ControlImporters;
import io.kiln.frontend.onnx.elementwise.OnnxElementwiseImporters;
import io.kiln.frontend.onnx.layer.OnnxLayerImporters;
import io.kiln.frontend.onnx.ml.LearningImporters;
import io.kiln.frontend.onnx.movement.OnnxMovementImporters;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.quantized.QuantizedImporters;
import io.kiln.frontend.onnx.recurrent.RecurrentImporters;
import io.kiln.frontend.onnx.reduce.ReduceImporters;
import io.kiln.frontend.onnx.tensor.TensorImporters;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The operators that Kiln imports: the tables of all families combined. */
final class OnnxOperators {
    private static final Map<String, OnnxRegistration> ALL = Stream.of(
                    ControlImporters.ALL,
                    OnnxElementwiseImporters.ALL,
                    OnnxLayerImporters.ALL,
                    LearningImporters.ALL,
                    OnnxMovementImporters.ALL,
                    QuantizedImporters.ALL,
                    RecurrentImporters.ALL,
                    ReduceImporters.ALL,
                    TensorImporters.ALL)
            .flatMap(List::stream)
            .collect(Collectors.toUnmodifiableMap(OnnxRegistration::key, Function.identity()));

    private OnnxOperators() {}

    /** The importer of an operator, if there is one. */
    static Optional<OnnxRegistration> find(String domain, String name) {
        return Optional.ofNullable(ALL.get(OnnxRegistration.key(domain, name)));
    }

    /** The names of all operators, in order. */
    static List<String> names() {
        return ALL.keySet().stream().sorted().toList();
    }
}
