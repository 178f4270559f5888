// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.frontend.onnx.operator.OnnxRegistration;
import java.util.List;
import java.util.stream.Stream;

/** The table of operators that move elements, and of those that compute shapes. */
public final class OnnxMovementImporters {
    private static final List<OnnxRegistration> OWN =
            List.of(onnx("Concat", new ConcatImporter()), onnx("Transpose", new TransposeImporter()));

    /** All operators of the family. */
    public static final List<OnnxRegistration> ALL = Stream.of(
                    OWN,
                    OnnxShapeImporters.ALL,
                    OnnxConstantImporters.ALL,
                    OnnxSliceImporters.ALL,
                    OnnxPadImporters.ALL,
                    GatherImporters.ALL,
                    ScatterImporters.ALL,
                    OnnxBlockImporters.ALL,
                    OnnxSequenceImporters.ALL,
                    ResizeImporters.ALL)
            .flatMap(List::stream)
            .toList();

    private OnnxMovementImporters() {}
}
