// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.tensor;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.type.Shape;
import java.util.List;
import java.util.function.DoubleUnaryOperator;

/** Windows of signals, which are constants: sums of cosines of the place within the window, from 0 to 1. */
final class WindowImporters {
    private static final int MOST = 1 << 20;
    private static final double HAMMING = 25.0 / 46;

    static final List<OnnxRegistration> ALL = List.of(
            onnx("HannWindow", n -> window(n, t -> 0.5 - 0.5 * cosine(1, t))),
            onnx("HammingWindow", n -> window(n, t -> HAMMING - (1 - HAMMING) * cosine(1, t))),
            onnx("BlackmanWindow", n -> window(n, t -> 0.42 - 0.5 * cosine(1, t) + 0.08 * cosine(2, t))));

    private WindowImporters() {}

    private static double cosine(int waves, double t) {
        return Math.cos(2 * Math.PI * waves * t);
    }

    private static void window(NodeContext node, DoubleUnaryOperator formula) {
        long size = node.integers(0, "size").get(0);
        node.require(size > 0 && size <= MOST, "its size is " + size, "1 to " + MOST);
        node.require(node.attributes().whole("output_datatype", 1) == 1, "its output_datatype is not float", "float");
        boolean isPeriodic = node.attributes().truth("periodic", true);
        double length = Math.max(1, isPeriodic ? size : size - 1);
        float[] values = new float[(int) size];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) formula.applyAsDouble(i / length);
        }
        Arg constant = new Expressions(node).reals(values, Shape.of(values.length));
        node.finish(constant);
    }
}
