// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.node;

import io.kiln.base.KilnException;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.ir.Function;
import java.util.Optional;
import java.util.stream.Stream;

/** The models of the ONNX project's tests. */
public final class NodeFunctions {
    private NodeFunctions() {}

    /** Those that are imported. */
    public static Stream<Function> all() {
        return NodeTest.all("node").stream().flatMap(test -> read(test).stream());
    }

    private static Optional<Function> read(NodeTest test) {
        try {
            return Optional.of(
                    OnnxFrontend.convert(test.frozen(), "m", InputShapes.NONE).function());
        } catch (KilnException refused) {
            return Optional.empty();
        }
    }
}
