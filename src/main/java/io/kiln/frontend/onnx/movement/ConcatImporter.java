// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import java.util.List;
import java.util.stream.IntStream;

/** {@code Concat}; before version 4 the axis is 1 unless stated. */
final class ConcatImporter implements OnnxImporter {
    private static final int AXIS_REQUIRED = 4;

    @Override
    public void emit(NodeContext node) {
        List<Arg> parts = IntStream.range(0, node.inputs()).mapToObj(node::arg).toList();
        long stated = node.version() >= AXIS_REQUIRED
                ? node.attributes().requiredWhole("axis")
                : node.attributes().whole("axis", 1);
        node.finish(new Expressions(node)
                .concatenate(parts, node.axis(stated, node.shape(0).rank())));
    }
}
