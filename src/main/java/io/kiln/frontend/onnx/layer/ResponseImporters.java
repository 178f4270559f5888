// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.elementwise.Powers;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** Norms of windows and neighbouring channels, and the hard maximum. */
final class ResponseImporters {
    private static final int ONE_AXIS = 13;

    static final List<OnnxRegistration> ALL = List.of(
            onnx("LRN", ResponseImporters::lrn),
            onnx("LpPool", new PoolImporter(ResponseImporters::lpPool)),
            onnx("GlobalLpPool", ResponseImporters::globalLpPool),
            onnx("Hardmax", ResponseImporters::hardmax));

    private ResponseImporters() {}

    /** {@code x / (bias + alpha / size * sum of squares of neighbouring channels) ^ beta}. */
    private static void lrn(NodeContext node) {
        Expressions e = new Expressions(node);
        Arg data = ImageLayouts.channelsLast(e, node.arg(0));
        Shape shape = e.shape(data);
        long size = node.attributes().requiredWhole("size");
        node.require(size > 0 && size < (1 << 12), "its size is " + size, "a number of channels");
        int before = (int) (size - 1) / 2;
        int after = (int) size - 1 - before;
        int axis = shape.rank() - 1;
        List<Integer> first = new ArrayList<>(Collections.nCopies(shape.rank(), 0));
        List<Integer> last = new ArrayList<>(first);
        first.set(axis, before);
        last.set(axis, after);
        Arg squares = node.emit(new Pad(first, last), e.multiply(data, data), e.number(0, DType.FLOAT32));
        Arg sum = e.slice(squares, axis, 0, shape.dim(axis));
        for (int i = 1; i < size; i++) {
            sum = e.add(sum, e.slice(squares, axis, i, i + shape.dim(axis)));
        }
        float alpha = node.attributes().real("alpha", 1e-4f);
        float beta = node.attributes().real("beta", 0.75f);
        Arg scaled =
                e.add(e.multiply(sum, (double) alpha / size), node.attributes().real("bias", 1));
        Arg divisor = Powers.real(e, scaled, e.number(beta, DType.FLOAT32));
        node.finish(ImageLayouts.channelsFirst(e, e.divide(data, divisor)));
    }

    /** {@code (mean of |x|^p * number of elements) ^ (1 / p)}, with zeros around the data. */
    private static Arg lpPool(Expressions e, NodeContext node, Arg data, Spatial windows, Spatial stated) {
        List<Integer> before = new ArrayList<>(windows.begins());
        List<Integer> after = new ArrayList<>(windows.ends());
        before.add(0, 0);
        before.add(0);
        after.add(0, 0);
        after.add(0);
        boolean isPadded = Collections.max(before) > 0 || Collections.max(after) > 0;
        Arg wide = isPadded ? node.emit(new Pad(before, after), data, e.number(0, DType.FLOAT32)) : data;
        Arg powers = power(e, node, wide);
        int taps = windows.kernel().stream().reduce(1, (a, b) -> a * b);
        Arg mean = OnnxPools.pooled(e, node, powers, windows.unpadded(), AvgPool2d::new);
        return root(e, node, e.multiply(mean, taps));
    }

    private static void globalLpPool(NodeContext node) {
        Expressions e = new Expressions(node);
        List<Integer> axes = IntStream.range(2, node.shape(0).rank()).boxed().toList();
        node.finish(root(e, node, e.reduce(Reduce.Kind.SUM, power(e, node, node.arg(0)), axes)));
    }

    private static Arg power(Expressions e, NodeContext node, Arg data) {
        long p = node.attributes().whole("p", 2);
        Arg magnitude = e.unary(Unary.Kind.ABS, data);
        return p == 1 ? magnitude : p == 2 ? e.multiply(data, data) : Powers.real(e, magnitude, number(e, (double) p));
    }

    private static Arg root(Expressions e, NodeContext node, Arg sum) {
        long p = node.attributes().whole("p", 2);
        return p == 1 ? sum : p == 2 ? e.unary(Unary.Kind.SQRT, sum) : Powers.real(e, sum, number(e, 1.0 / p));
    }

    private static Arg number(Expressions e, double value) {
        return e.number(value, DType.FLOAT32);
    }

    /** 1 for the first of the largest elements, 0 for the others; before version 13 along all axes from one on. */
    private static void hardmax(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape shape = node.shape(0);
        boolean isOne = node.version() >= ONE_AXIS;
        int axis = node.axis(node.attributes().whole("axis", isOne ? -1 : 1), shape.rank());
        Arg data = node.arg(0);
        if (!isOne) {
            int columns = shape.dims().subList(axis, shape.rank()).stream().reduce(1, (a, b) -> a * b);
            data = e.reshape(data, List.of(Math.toIntExact(shape.elements() / columns), columns));
            axis = 1;
        }
        List<Integer> dims = new ArrayList<>(e.shape(data).dims());
        Arg places = e.places(Expressions.along(dims.size(), axis, dims.get(axis)), i -> i);
        dims.set(axis, 1);
        Arg index = e.reshape(node.emit(new ArgReduce(true, axis), data), dims);
        Arg isFirst = e.binary(Binary.Kind.EQUAL, index, places);
        node.finish(e.reshape(e.cast(isFirst, DType.FLOAT32), shape));
    }
}
