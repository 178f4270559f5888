// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import java.util.List;
import java.util.stream.LongStream;

/** {@code Transpose}; without a permutation it reverses the dimensions. */
final class TransposeImporter implements OnnxImporter {
    @Override
    public void emit(NodeContext node) {
        int rank = node.shape(0).rank();
        List<Long> stated = node.attributes()
                .wholes("perm")
                .orElse(LongStream.range(0, rank).mapToObj(i -> rank - 1 - i).toList());
        node.require(
                stated.stream()
                        .sorted()
                        .toList()
                        .equals(LongStream.range(0, rank).boxed().toList()),
                "its perm is " + stated,
                "every axis of " + node.shape(0).text() + " once");
        node.finish(new Expressions(node)
                .transpose(node.arg(0), stated.stream().map(Long::intValue).toList()));
    }
}
