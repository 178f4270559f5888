// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.Arg;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The geometry of a convolution or pool over any number of spatial dimensions.
 *
 * @param kernel size of the window along each dimension
 * @param strides from one window to the next
 * @param dilations from one tap to the next
 * @param begins padding before the data
 * @param ends padding after it
 */
record Spatial(
        List<Integer> kernel,
        List<Integer> strides,
        List<Integer> dilations,
        List<Integer> begins,
        List<Integer> ends) {
    /** Dimensions of an image of two spatial dimensions. */
    static final int IMAGE = 4;

    private static final int MOST = 1 << 20;

    Spatial {
        kernel = List.copyOf(kernel);
        strides = List.copyOf(strides);
        dilations = List.copyOf(dilations);
        begins = List.copyOf(begins);
        ends = List.copyOf(ends);
    }

    /**
     * The attributes {@code strides}, {@code dilations}, {@code pads}, {@code auto_pad} and {@code ceil_mode}.
     *
     * @param kernel size of the window
     * @param sizes spatial dimensions of the data
     */
    static Spatial of(NodeContext node, List<Integer> kernel, List<Integer> sizes) {
        int rank = sizes.size();
        node.require(kernel.size() == rank, "its kernel has " + kernel.size() + " dimensions", rank + " as its data");
        List<Integer> strides = list(node, "strides", rank, 1);
        List<Integer> dilations = list(node, "dilations", rank, 1);
        node.require(
                kernel.stream().allMatch(k -> k > 0)
                        && strides.stream().allMatch(s -> s > 0)
                        && dilations.stream().allMatch(d -> d > 0),
                "its kernel, strides and dilations are " + kernel + ", " + strides + " and " + dilations,
                "numbers above 0");
        List<List<Integer>> margins = margins(node, kernel, sizes, strides, dilations);
        return new Spatial(kernel, strides, dilations, margins.get(0), margins.get(1));
    }

    /** Padding before and after the data. */
    private static List<List<Integer>> margins(
            NodeContext node,
            List<Integer> kernel,
            List<Integer> sizes,
            List<Integer> strides,
            List<Integer> dilations) {
        int rank = sizes.size();
        List<Integer> pads = list(node, "pads", 2 * rank, 0);
        String auto = node.text("auto_pad", "NOTSET");
        List<Integer> begins = new ArrayList<>();
        List<Integer> ends = new ArrayList<>();
        for (int i = 0; i < rank; i++) {
            int span = (kernel.get(i) - 1) * dilations.get(i) + 1;
            int stride = strides.get(i);
            int total = Math.max(0, (ceil(sizes.get(i), stride) - 1) * stride + span - sizes.get(i));
            int begin = switch (auto) {
                case "NOTSET" -> pads.get(i);
                case "VALID" -> 0;
                case "SAME_UPPER" -> total / 2;
                case "SAME_LOWER" -> total - total / 2;
                default ->
                    throw node.failure("its auto_pad is `" + auto + "`", "NOTSET, VALID, SAME_UPPER or SAME_LOWER");
            };
            begins.add(begin);
            ends.add(auto.equals("NOTSET") ? pads.get(rank + i) : auto.equals("VALID") ? 0 : total - begin);
        }
        return List.of(begins, ends);
    }

    private static int ceil(int dividend, int divisor) {
        return (dividend + divisor - 1) / divisor;
    }

    /** Integers of an attribute, or the same default for all. */
    static List<Integer> list(NodeContext node, String name, int count, int otherwise) {
        List<Long> stated = node.wholes(name).orElse(Collections.nCopies(count, (long) otherwise));
        node.require(
                stated.size() == count && stated.stream().allMatch(v -> Math.abs(v) < MOST),
                "its " + name + " are " + stated,
                count + " numbers below " + MOST);
        return stated.stream().map(Long::intValue).toList();
    }

    int rank() {
        return kernel.size();
    }

    /** Elements that a window spans along a dimension. */
    int span(int i) {
        return (kernel.get(i) - 1) * dilations.get(i) + 1;
    }

    /** Size of the result along a dimension of data of a size. */
    int output(int i, int size) {
        return Math.floorDiv(size + begins.get(i) + ends.get(i) - span(i), strides.get(i)) + 1;
    }

    /** Whether every window has at least one tap on the data at each border. */
    boolean isOrdinary() {
        boolean isOrdinary = true;
        for (int i = 0; i < rank(); i++) {
            isOrdinary &= begins.get(i) < span(i) && ends.get(i) < span(i);
        }
        return isOrdinary;
    }

    /** The same with other padding. */
    Spatial padded(List<Integer> newBegins, List<Integer> newEnds) {
        return new Spatial(kernel, strides, dilations, newBegins, newEnds);
    }

    /** The same without padding. */
    Spatial unpadded() {
        List<Integer> none = Collections.nCopies(rank(), 0);
        return padded(none, none);
    }

    /** The last two dimensions, as the window of an image; one dimension is its width. */
    Window window() {
        int w = rank() - 1;
        boolean isFlat = rank() == 1;
        int h = isFlat ? w : w - 1;
        return Window.of(isFlat ? 1 : kernel.get(h), kernel.get(w))
                .strided(isFlat ? 1 : strides.get(h), strides.get(w))
                .dilated(isFlat ? 1 : dilations.get(h), dilations.get(w))
                .padded(isFlat ? 0 : begins.get(h), begins.get(w), isFlat ? 0 : ends.get(h), ends.get(w));
    }

    /**
     * Moves the channels of (N, C, ...) to the end, where the IR has them. The transposes around a layer meet those of its neighbours and cancel, see
     * {@code io.kiln.transform}.
     */
    static Arg channelsLast(Formulas e, Arg data) {
        int rank = e.shape(data).rank();
        List<Integer> axes = new ArrayList<>(List.of(0));
        IntStream.range(2, rank).forEach(axes::add);
        axes.add(1);
        return rank < 3 ? data : e.transpose(data, axes);
    }

    /** Moves the last dimension of (N, ..., C) to the second place. */
    static Arg channelsFirst(Formulas e, Arg data) {
        int rank = e.shape(data).rank();
        List<Integer> axes = new ArrayList<>(List.of(0, rank - 1));
        IntStream.range(1, rank - 1).forEach(axes::add);
        return rank < 3 ? data : e.transpose(data, axes);
    }

    /** Data (N, ..., C) with zeros before and after it along the spatial dimensions; of these it may have more than there are widths. */
    static Arg padded(NodeContext node, Arg data, List<Integer> begins, List<Integer> ends) {
        int rank = node.shape(data).rank();
        List<Integer> before = around(rank, begins);
        List<Integer> after = around(rank, ends);
        List<Integer> none = Collections.nCopies(rank, 0);
        boolean isAsIs = before.equals(none) && after.equals(none);
        return isAsIs ? data : node.emit(new Pad(before, after), data, node.real(0));
    }

    private static List<Integer> around(int rank, List<Integer> widths) {
        List<Integer> all = new ArrayList<>(Collections.nCopies(rank - 1 - widths.size(), 0));
        all.addAll(widths);
        all.add(0);
        return all;
    }

    /** Data (N, ..., C) of at most two spatial dimensions as (N, H, W, C). */
    static Arg image(Formulas e, Arg data) {
        Shape shape = e.shape(data);
        List<Integer> dims = new ArrayList<>(shape.dims());
        while (dims.size() < IMAGE) {
            dims.add(1, 1);
        }
        return e.reshape(data, dims);
    }

    /** The inverse of {@link #image} for data of a rank. */
    static Arg ofImage(Formulas e, Arg image, int rank) {
        List<Integer> dims = new ArrayList<>(e.shape(image).dims());
        while (dims.size() > rank) {
            dims.remove(1);
        }
        return e.reshape(image, dims);
    }
}
