// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
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
                    KnownDataImporters.ALL,
                    OnnxBlockImporters.ALL,
                    OnnxSequenceImporters.ALL,
                    ResizeImporters.ALL)
            .flatMap(List::stream)
            .toList();

    private OnnxMovementImporters() {}

    /** {@code Concat}; before version 4 the axis is 1 unless stated. */
    private static final class ConcatImporter implements OnnxImporter {
        private static final int AXIS_REQUIRED = 4;

        @Override
        public void emit(NodeContext node) {
            List<Arg> parts =
                    IntStream.range(0, node.inputs()).mapToObj(node::arg).toList();
            long stated = node.version() >= AXIS_REQUIRED
                    ? node.attributes().requiredWhole("axis")
                    : node.attributes().whole("axis", 1);
            node.finish(new Expressions(node)
                    .concatenate(parts, node.axis(stated, node.shape(0).rank())));
        }
    }

    /** {@code Transpose}; without a permutation it reverses the dimensions. */
    private static final class TransposeImporter implements OnnxImporter {
        @Override
        public void emit(NodeContext node) {
            int rank = node.shape(0).rank();
            List<Long> stated = node.attributes()
                    .wholes("perm")
                    .orElse(LongStream.range(0, rank)
                            .mapToObj(i -> rank - 1 - i)
                            .toList());
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
}
