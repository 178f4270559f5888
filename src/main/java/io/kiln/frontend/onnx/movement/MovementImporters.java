// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import static io.kiln.frontend.onnx.operator.Registration.onnx;

import io.kiln.frontend.onnx.operator.Registration;
import java.util.List;
import java.util.stream.Stream;

/** The table of operators that move elements, and of those that compute shapes. */
public final class MovementImporters {
    private static final List<Registration> OWN =
            List.of(onnx("Concat", new ConcatImporter()), onnx("Transpose", new TransposeImporter()));

    /** All operators of the family. */
    public static final List<Registration> ALL = Stream.of(
                    OWN,
                    ShapeImporters.ALL,
                    ConstantImporters.ALL,
                    SliceImporters.ALL,
                    PadImporters.ALL,
                    GatherImporters.ALL,
                    BlockImporters.ALL,
                    SequenceImporters.ALL,
                    ResizeImporters.ALL)
            .flatMap(List::stream)
            .toList();

    private MovementImporters() {}
}
