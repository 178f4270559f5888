// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code RotaryEmbedding}: pairs of elements of each head, turned by the angle of their position: {@code (a, b)} becomes {@code (a * cos - b *
 * sin, a * sin + b * cos)}. A pair is two neighbours (interleaved), or elements of the two halves. Elements behind the first {@code
 * rotary_embedding_dim} stay.
 *
 * @param isOfRuntime whether it is ONNX Runtime's operator, whose positions are its second input, and are one number or one for each row
 */
record RotaryEmbeddingImporter(boolean isOfRuntime) implements OnnxImporter {
    @Override
    public void emit(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape shape = node.shape(0);
        boolean isFlat = shape.rank() == 3;
        node.require(isFlat || shape.rank() == 4, "its input is " + shape.text(), "a tensor of rank 3 or 4");
        node.require(
                node.attributes().whole("is_packed_batching", 0) == 0
                        && node.attributes().real("scale", 1) == 1,
                "it has packed batches or a scale",
                "is_packed_batching=0 and scale=1");
        int cos = isOfRuntime ? 2 : 1;
        int rotated = rotated(node, shape, cos);
        Arg data = node.arg(0);
        if (isFlat) {
            long heads = node.attributes().whole("num_heads", 0);
            long count = heads > 0
                    ? heads
                    : shape.dim(2) / Math.max(1, 2 * node.shape(cos).dim(-1));
            node.require(
                    count > 0 && shape.dim(2) % count == 0,
                    "its num_heads is " + count,
                    "a divisor of " + shape.dim(2));
            data = e.reshape(data, List.of(shape.dim(0), shape.dim(1), (int) count, (int) (shape.dim(2) / count)));
        }
        int size = e.shape(data).dim(-1);
        int half = rotated == 0 ? size / 2 : rotated / 2;
        node.require(half > 0 && 2 * half <= size, "its rotary_embedding_dim is " + rotated, "at most " + size);
        int rows = isFlat ? shape.dim(1) : shape.dim(2);
        List<Integer> angles = isFlat ? List.of(shape.dim(0), rows, 1, half) : List.of(shape.dim(0), 1, rows, half);
        Arg cosines = angles(e, node, cos, rows, angles);
        Arg sines = angles(e, node, cos + 1, rows, angles);
        boolean isInterleaved = node.attributes().truth("interleaved", false);
        Arg first = part(e, node, data, 0, half, isInterleaved);
        Arg second = part(e, node, data, 1, half, isInterleaved);
        Arg real = e.subtract(e.multiply(first, cosines), e.multiply(second, sines));
        Arg imaginary = e.add(e.multiply(first, sines), e.multiply(second, cosines));
        List<Arg> parts = new ArrayList<>(
                List.of(isInterleaved ? interleaved(e, real, imaginary) : e.concatenate(List.of(real, imaginary), 3)));
        if (2 * half < size) {
            parts.add(e.slice(data, 3, 2 * half, size));
        }
        node.finish(e.reshape(e.concatenate(parts, 3), shape));
    }

    /** The elements of a head that are turned; 0 for all. */
    private static int rotated(NodeContext node, Shape shape, int cos) {
        long stated = node.attributes().whole("rotary_embedding_dim", 0);
        node.require(
                stated >= 0 && stated % 2 == 0 && stated <= shape.dim(-1),
                "its rotary_embedding_dim is " + stated,
                "an even number, at most the size of a head");
        return stated == 0 && node.shape(cos).rank() > 0 ? 2 * node.shape(cos).dim(-1) : (int) stated;
    }

    /** Rows of a table, chosen by the positions, in dimensions that broadcast over the heads. */
    private Arg angles(Expressions e, NodeContext node, int table, int rows, List<Integer> dims) {
        int positions = isOfRuntime ? 1 : 3;
        Arg values = node.arg(table);
        if (node.has(positions)) {
            Arg places = e.indices(node.arg(positions));
            boolean isFirst = isOfRuntime && e.shape(places).elements() == 1 && rows * dims.get(0) > 1;
            values = e.take(
                    values,
                    isFirst ? e.add(e.places(Shape.of(rows), i -> i), e.reshape(places, List.of())) : places,
                    0);
            if (isFirst) {
                List<Integer> one = new ArrayList<>(dims);
                one.set(0, 1);
                return e.reshape(values, one);
            }
        }
        return e.reshape(values, dims);
    }

    private static Arg part(Expressions e, NodeContext node, Arg data, int index, int half, boolean isInterleaved) {
        return isInterleaved
                ? node.emit(StridedSlice.along(e.shape(data), 3, index, 2 * half, 2), data)
                : e.slice(data, 3, index * half, (index + 1) * half);
    }

    private static Arg interleaved(Expressions e, Arg even, Arg odd) {
        List<Integer> dims = new ArrayList<>(e.shape(even).dims());
        dims.add(1);
        Arg pairs = e.concatenate(List.of(e.reshape(even, dims), e.reshape(odd, dims)), 4);
        dims.remove(4);
        dims.set(3, 2 * dims.get(3));
        return e.reshape(pairs, dims);
    }
}
