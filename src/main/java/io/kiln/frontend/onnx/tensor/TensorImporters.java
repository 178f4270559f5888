// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.tensor;

import static io.kiln.frontend.onnx.operator.Registration.onnx;

import io.kiln.frontend.onnx.operator.Registration;
import java.util.List;
import java.util.stream.Stream;

/** The table of products of tensors and transforms of signals. */
public final class TensorImporters {
    private static final List<Registration> OWN =
            List.of(onnx("Einsum", new EinsumImporter()), onnx("Det", new DetImporter()));

    /** All operators of the family. */
    public static final List<Registration> ALL =
            Stream.of(OWN, WindowImporters.ALL).flatMap(List::stream).toList();

    private TensorImporters() {}
}
