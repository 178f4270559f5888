// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.elementwise;

import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A function of two elements; from version 7 on with NumPy's broadcasting. */
record OnnxBinaryImporter(Binary.Kind kind) implements OnnxImporter {
    private static final int NUMPY_BROADCASTING = 7;

    @Override
    public void emit(NodeContext node) {
        Expressions e = new Expressions(node);
        Arg rhs = node.arg(1);
        if (node.version() < NUMPY_BROADCASTING) {
            rhs = aligned(e, node, rhs);
        }
        node.require(
                node.element(0) == node.element(1),
                "its inputs are " + node.element(0).text() + " and "
                        + node.element(1).text(),
                "one element type");
        node.finish(WiderElements.apply(e, kind, node.element(0), node.arg(0), rhs));
    }

    /** Before version 7, attribute {@code axis} says which dimension of the first input the second begins at; slopes are those of channels. */
    private Arg aligned(Expressions e, NodeContext node, Arg rhs) {
        Shape shape = e.shape(rhs);
        int rank = node.shape(0).rank();
        boolean isSlope = kind == Binary.Kind.PRELU && shape.rank() == 1 && rank > 1 && shape.dim(0) > 1;
        if (isSlope) {
            return e.reshape(rhs, ofChannels(shape.dim(0), rank));
        }
        if (!node.attributes().has("axis") || shape.rank() >= rank) {
            return rhs;
        }
        int axis = node.axis(node.attributes().whole("axis", 0), rank);
        List<Integer> dims = new ArrayList<>(shape.dims());
        dims.addAll(Collections.nCopies(Math.max(0, rank - axis - shape.rank()), 1));
        return e.reshape(rhs, dims);
    }

    private static List<Integer> ofChannels(int channels, int rank) {
        List<Integer> dims = new ArrayList<>(Collections.nCopies(rank - 1, 1));
        dims.set(0, channels);
        return dims;
    }
}
