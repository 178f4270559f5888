// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.tensor;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.frontend.onnx.operator.OnnxRegistration;
import java.util.List;
import java.util.stream.Stream;

/** The table of products of tensors and transforms of signals. */
public final class TensorImporters {
    private static final List<OnnxRegistration> OWN = List.of(
            onnx("Einsum", new EinsumImporter()),
            onnx("Det", new DetImporter()),
            onnx("MelWeightMatrix", new MelWeightImporter()));

    /** All operators of the family. */
    public static final List<OnnxRegistration> ALL = Stream.of(OWN, WindowImporters.ALL, FourierImporters.ALL)
            .flatMap(List::stream)
            .toList();

    private TensorImporters() {}
}
