// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * {@code MaxPool} with its second output: the places of the maxima among all elements of the data. The elements of each
 * tap of the window are compared with the largest so far; of equal ones the first counts, and NaN does not.
 */
final class IndexedMaxPool {
    private static final int MOST_TAPS = 256;

    /** Dimensions before the spatial ones. */
    private static final int LEADING = 2;

    private final NodeContext node;
    private final Expressions e;
    private final Spatial windows;
    private final Shape data;
    private final List<Integer> results = new ArrayList<>();

    /** @param windows the geometry, made longer where {@code ceil_mode} asks for one more window */
    IndexedMaxPool(NodeContext node, Spatial windows) {
        this.node = node;
        this.e = new Expressions(node);
        this.windows = windows;
        this.data = node.shape(0);
        for (int i = 0; i < windows.rank(); i++) {
            results.add(windows.output(i, data.dim(LEADING + i)));
        }
    }

    void emit() {
        int taps = windows.kernel().stream().reduce(1, (a, b) -> Math.min(a * b, 1 << 20));
        node.require(
                taps <= MOST_TAPS,
                "it computes the indices of windows of " + windows.kernel(),
                "at most " + MOST_TAPS + " elements");
        DType dtype = e.dtype(node.arg(0));
        Arg values = padded(e.cast(node.arg(0), dtype == DType.UINT8 ? DType.INT16 : dtype));
        Arg most = values;
        Arg place = e.number(0, DType.INT32);
        for (int tap = 0; tap < taps; tap++) {
            List<Integer> offsets = offsets(tap);
            Arg value = slice(values, offsets);
            Arg own = e.number(offset(offsets), DType.INT32);
            if (tap == 0) {
                most = dtype.isFloat()
                        ? e.binary(Binary.Kind.MAXIMUM, value, e.number(Float.NEGATIVE_INFINITY, dtype))
                        : value;
                place = own;
            } else {
                place = e.where(e.binary(Binary.Kind.GREATER, value, most), own, place);
                most = e.binary(Binary.Kind.MAXIMUM, value, most);
            }
        }
        node.finish(0, e.cast(most, dtype), node.element(0));
        node.finish(1, e.cast(e.add(firsts(), place), DType.INT64), ElementType.INT64);
    }

    private Arg padded(Arg values) {
        List<Integer> before = new ArrayList<>(Collections.nCopies(LEADING, 0));
        List<Integer> after = new ArrayList<>(before);
        before.addAll(windows.begins());
        after.addAll(windows.ends());
        DType dtype = e.dtype(values);
        double lowest = dtype.isFloat() ? Double.NEGATIVE_INFINITY : dtype.min();
        boolean isPadded =
                before.stream().anyMatch(p -> p > 0) || after.stream().anyMatch(p -> p > 0);
        return isPadded ? node.emit(new Pad(before, after), values, e.number(lowest, dtype)) : values;
    }

    /** Distances of a tap from the first one of its window. */
    private List<Integer> offsets(int tap) {
        List<Integer> offsets = new ArrayList<>();
        int rest = tap;
        for (int i = windows.rank() - 1; i >= 0; i--) {
            offsets.add(0, rest % windows.kernel().get(i) * windows.dilations().get(i));
            rest /= windows.kernel().get(i);
        }
        return offsets;
    }

    private Arg slice(Arg values, List<Integer> offsets) {
        List<Integer> begin = new ArrayList<>(Collections.nCopies(LEADING, 0));
        List<Integer> end = new ArrayList<>(data.dims().subList(0, LEADING));
        List<Integer> strides = new ArrayList<>(Collections.nCopies(LEADING, 1));
        for (int i = 0; i < windows.rank(); i++) {
            int stride = windows.strides().get(i);
            begin.add(offsets.get(i));
            end.add(offsets.get(i) + (results.get(i) - 1) * stride + 1);
            strides.add(stride);
        }
        return node.emit(new StridedSlice(begin, end, strides), values);
    }

    /** Steps in the order of the data's elements. */
    private int offset(List<Integer> distances) {
        int offset = 0;
        for (int i = 0; i < distances.size(); i++) {
            offset += distances.get(i) * step(i);
        }
        return offset;
    }

    /** How far neighbours along a dimension are apart; with {@code storage_order} the first one is the innermost. */
    private int step(int dimension) {
        boolean isFirstInnermost = node.attributes().truth("storage_order", false);
        List<Integer> sizes = data.dims().subList(LEADING, data.rank());
        List<Integer> inner =
                isFirstInnermost ? sizes.subList(0, dimension) : sizes.subList(dimension + 1, sizes.size());
        return inner.stream().reduce(1, (a, b) -> a * b);
    }

    /** The place of the first tap of each window; before the data if that lies in the padding. */
    private Arg firsts() {
        List<Integer> dims = new ArrayList<>(data.dims().subList(0, LEADING));
        dims.addAll(results);
        int image = Math.toIntExact(data.elements() / data.dim(0) / data.dim(1));
        return e.places(new Shape(dims), position -> {
            int rest = position;
            int place = 0;
            for (int i = windows.rank() - 1; i >= 0; i--) {
                int first = rest % results.get(i) * windows.strides().get(i)
                        - windows.begins().get(i);
                place += first * step(i);
                rest /= results.get(i);
            }
            return rest * image + place;
        });
    }
}
