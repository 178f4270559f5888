// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.type.Shape;
import java.util.List;

/** Operators that exchange blocks of pixels and channels, and those that reverse parts of an axis. */
final class OnnxBlockImporters {
    static final List<OnnxRegistration> ALL = List.of(
            onnx("DepthToSpace", OnnxBlockImporters::depthToSpace),
            onnx("SpaceToDepth", OnnxBlockImporters::spaceToDepth));

    private OnnxBlockImporters() {}

    private static void depthToSpace(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape s = node.shape(0);
        int block = block(node, s);
        node.require(s.dim(1) % (block * block) == 0, "it has " + s.dim(1) + " channels", "a multiple of blocksize^2");
        int depth = s.dim(1) / (block * block);
        String mode = node.attributes().text("mode", "DCR");
        node.require(mode.equals("DCR") || mode.equals("CRD"), "its mode is `" + mode + "`", "DCR or CRD");
        boolean isDepthFirst = mode.equals("CRD");
        Arg parted = e.reshape(
                node.arg(0),
                isDepthFirst
                        ? List.of(s.dim(0), depth, block, block, s.dim(2), s.dim(3))
                        : List.of(s.dim(0), block, block, depth, s.dim(2), s.dim(3)));
        Arg moved = e.transpose(parted, isDepthFirst ? List.of(0, 1, 4, 2, 5, 3) : List.of(0, 3, 4, 1, 5, 2));
        node.finish(e.reshape(moved, List.of(s.dim(0), depth, s.dim(2) * block, s.dim(3) * block)));
    }

    private static void spaceToDepth(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape s = node.shape(0);
        int block = block(node, s);
        node.require(
                s.dim(2) % block == 0 && s.dim(3) % block == 0, "its data is " + s.text(), "multiples of blocksize");
        int height = s.dim(2) / block;
        int width = s.dim(3) / block;
        Arg parted = e.reshape(node.arg(0), List.of(s.dim(0), s.dim(1), height, block, width, block));
        Arg moved = e.transpose(parted, List.of(0, 3, 5, 1, 2, 4));
        node.finish(e.reshape(moved, List.of(s.dim(0), s.dim(1) * block * block, height, width)));
    }

    private static int block(NodeContext node, Shape shape) {
        long block = node.attributes().requiredWhole("blocksize");
        node.require(shape.rank() == 4, "its data is " + shape.text(), "an image");
        node.require(block > 0 && block < (1 << 12), "its blocksize is " + block, "a number above 0");
        return (int) block;
    }
}
