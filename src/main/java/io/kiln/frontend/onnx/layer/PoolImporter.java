// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * A pool over a window of one, two or three dimensions.
 *
 * @param pool the function
 */
record PoolImporter(Pool pool) implements OnnxImporter {
    private static final int MAX_RANK = 5;

    /** The function of a window. */
    interface Pool {
        /**
         * The result for data (N, ..., C).
         *
         * @param windows the geometry, made longer at the end where {@code ceil_mode} asks for one more window
         * @param stated the geometry as stated
         */
        Arg apply(Expressions e, NodeContext node, Arg data, Spatial windows, Spatial stated);
    }

    @Override
    public void emit(NodeContext node) {
        Geometry geometry = geometry(node);
        Expressions e = new Expressions(node);
        Arg last = ImageLayouts.channelsLast(e, node.arg(0));
        node.finish(ImageLayouts.channelsFirst(e, pool.apply(e, node, last, geometry.windows(), geometry.stated())));
    }

    /**
     * Where the windows of a node lie.
     *
     * @param windows made longer at the end where {@code ceil_mode} asks for one more window
     * @param stated as stated
     */
    record Geometry(Spatial windows, Spatial stated) {}

    static Geometry geometry(NodeContext node) {
        Shape data = node.shape(0);
        node.require(
                data.rank() >= 3 && data.rank() <= MAX_RANK, "its data is " + data.text(), "1 to 3 spatial dimensions");
        List<Integer> sizes = data.dims().subList(2, data.rank());
        List<Integer> kernel = node.attributes().requiredWholes("kernel_shape").stream()
                .map(k -> (int) Math.max(0, Math.min(k, 1 << 20)))
                .toList();
        Spatial stated = Spatial.of(node, kernel, sizes);
        Spatial windows = node.attributes().truth("ceil_mode", false) ? ceiled(stated, sizes) : stated;
        for (int i = 0; i < sizes.size(); i++) {
            node.require(
                    windows.output(i, sizes.get(i)) > 0,
                    "its window " + kernel + " is larger than its padded data " + data.text(),
                    "a smaller window");
        }
        return new Geometry(windows, stated);
    }

    /** One more window where elements are left; it must begin on the data or the padding before it. */
    private static Spatial ceiled(Spatial stated, List<Integer> sizes) {
        List<Integer> ends = new ArrayList<>();
        for (int i = 0; i < stated.rank(); i++) {
            int stride = stated.strides().get(i);
            int padded = sizes.get(i) + stated.begins().get(i);
            int rest = padded + stated.ends().get(i) - stated.span(i);
            int count = Math.floorDiv(rest + stride - 1, stride) + 1;
            if ((count - 1) * stride >= padded) {
                count--;
            }
            int needed = (count - 1) * stride + stated.span(i) - padded;
            ends.add(Math.max(stated.ends().get(i), needed));
        }
        return stated.padded(stated.begins(), ends);
    }
}
