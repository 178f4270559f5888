// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.ScatterNd;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * {@code MaxUnpool}: zeros with the elements of the data at the places that {@link IndexedMaxPool} gives. The indices count
 * in an image of the size that the window implies; a larger {@code output_shape} adds zeros behind it.
 */
final class MaxUnpoolImporter implements OnnxImporter {
    private static final int LEADING = 2;
    private static final int MAX_SIZE = 1 << 24;

    @Override
    public void emit(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape data = node.shape(0);
        node.require(
                data.rank() > LEADING && node.shape(1).equals(data),
                "its data is " + data.text() + " and its indices "
                        + node.shape(1).text(),
                "images, and an index for each element");
        Shape image = image(node, data);
        int elements = Math.toIntExact(image.elements());
        int count = Math.toIntExact(data.elements());
        DType dtype = e.dtype(node.arg(0));
        Arg scattered = node.emit(
                new ScatterNd(ScatterNd.Mode.UPDATE),
                e.broadcast(e.number(0, dtype), Shape.of(elements, 1)),
                e.reshape(e.indices(node.arg(1)), List.of(1, count)),
                e.reshape(node.arg(0), List.of(count, 1)));
        node.finish(enlarged(node, e, e.reshape(scattered, image)));
    }

    /** The size that the window implies. */
    private static Shape image(NodeContext node, Shape data) {
        int rank = data.rank() - LEADING;
        List<Integer> kernel = Spatial.list(node, "kernel_shape", rank, 1);
        List<Integer> strides = Spatial.list(node, "strides", rank, 1);
        List<Integer> pads = Spatial.list(node, "pads", 2 * rank, 0);
        List<Integer> dims = new ArrayList<>(data.dims().subList(0, LEADING));
        for (int i = 0; i < rank; i++) {
            long size =
                    (data.dim(LEADING + i) - 1L) * strides.get(i) + kernel.get(i) - pads.get(i) - pads.get(rank + i);
            node.require(size > 0 && size < MAX_SIZE, "its result has a dimension of " + size, "at least 1");
            dims.add((int) size);
        }
        return new Shape(dims);
    }

    private static Arg enlarged(NodeContext node, Expressions e, Arg image) {
        if (!node.has(2)) {
            return image;
        }
        List<Long> stated = node.integers(2, "output_shape");
        Shape shape = e.shape(image);
        node.require(stated.size() == shape.rank(), "its output_shape is " + stated, shape.rank() + " dimensions");
        List<Integer> after = new ArrayList<>();
        for (int i = 0; i < stated.size(); i++) {
            long more = stated.get(i) - shape.dim(i);
            node.require(more >= 0 && more < MAX_SIZE, "its output_shape is " + stated, "at least " + shape.text());
            after.add((int) more);
        }
        List<Integer> before = Collections.nCopies(after.size(), 0);
        boolean isLarger = after.stream().anyMatch(p -> p > 0);
        return isLarger ? node.emit(new Pad(before, after), image, e.number(0, e.dtype(image))) : image;
    }
}
