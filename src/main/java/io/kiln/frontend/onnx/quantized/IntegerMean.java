// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.Emitter;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Origin;
import io.kiln.ir.arith.SingleFactor;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.QnnRequantize;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.OnnxAveragePool;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Turns a mean of floats into a sum of bytes as its importer emits it: the mean of a window becomes a depthwise convolution with ones. */
final class IntegerMean implements Emitter {
    private final NodeContext node;
    private final MeanForm form;

    IntegerMean(NodeContext node, MeanForm form) {
        this.node = node;
        this.form = form;
    }

    @Override
    public Arg emit(Op op, List<Arg> args, Origin origin) {
        if (op instanceof AvgPool2d pool) {
            return window(pool.window(), args.get(0));
        }
        if (op instanceof Reduce reduce && reduce.kind() == Reduce.Kind.MEAN) {
            return reduced(reduce, args.get(0));
        }
        if (op instanceof Pad) {
            Constant zero = new Expressions(node).number(form.data().by().zeroPoint(), DType.INT8);
            return node.emit(op, args.get(0), zero);
        }
        if (op instanceof Transpose || op instanceof Reshape || op instanceof Take || op instanceof Concatenate) {
            return node.emit(op, args);
        }
        throw new NoIntegers(op);
    }

    private Arg window(Window window, Arg data) {
        int channels = node.type(data).shape().dim(3);
        long count = (long) window.kernelH() * window.kernelW();
        if (window.isPadded() || !form.isClear(count)) {
            return inSinglePrecision(window, form.order(node, window), data);
        }
        ElementQuantization by = form.data().by();
        Arg sums = node.emit(
                new QnnConv2d(window, channels, channels, channels == 1 ? "OHWI" : "HWOI"),
                data,
                ones(window, channels),
                Constant.scalar(by.zeroPoint()),
                Constant.scalar(0),
                Constant.scalar(by.scale()),
                Constant.scalar(1f));
        return rescaled(sums, count);
    }

    /** The steps of floats, in ONNX Runtime's order. */
    private Arg inSinglePrecision(Window window, OnnxAveragePool.Order order, Arg data) {
        ElementQuantization by = form.data().by();
        OnnxAveragePool pool = new OnnxAveragePool(window, order, form.kind());
        if (!SingleFactor.isOrdinary(by.scale())
                || !SingleFactor.isOrdinary(form.to().scale())) {
            throw new NoIntegers(pool);
        }
        Arg bytes = node.emit(
                pool,
                data,
                Constant.scalar(by.scale()),
                Constant.scalar(by.zeroPoint()),
                Constant.scalar(form.to().scale()),
                Constant.scalar(form.to().zeroPoint()));
        return QuantizedForms.limited(node, bytes, form.limits());
    }

    private Constant ones(Window window, int channels) {
        Expressions e = new Expressions(node);
        Shape shape = channels == 1
                ? Shape.of(1, window.kernelH(), window.kernelW(), 1)
                : Shape.of(window.kernelH(), window.kernelW(), channels, 1);
        return (Constant) e.broadcast(e.number(1, DType.INT8), shape);
    }

    private Arg reduced(Reduce reduce, Arg data) {
        Expressions e = new Expressions(node);
        Shape shape = e.shape(data);
        List<Integer> axes = reduce.axes();
        long count = 1;
        for (int axis : axes) {
            count *= shape.dim(axis);
        }
        if (!form.isClear(count)) {
            return reducedInSinglePrecision(reduce, data, Math.toIntExact(count));
        }
        Arg centred = e.add(e.cast(data, DType.INT32), -form.data().by().zeroPoint());
        Arg sums = node.emit(new Reduce(Reduce.Kind.SUM, axes, reduce.keepDims()), centred);
        return rescaled(sums, count);
    }

    /** The reduced dimensions become the rows of an image with as many channels as there are elements after them. */
    private Arg reducedInSinglePrecision(Reduce reduce, Arg data, int count) {
        Expressions e = new Expressions(node);
        Shape shape = e.shape(data);
        List<Integer> wide = count == 1
                ? reduce.axes()
                : reduce.axes().stream().filter(i -> shape.dim(i) > 1).toList();
        int last = wide.get(wide.size() - 1);
        List<Integer> order = new ArrayList<>(IntStream.range(0, shape.rank())
                .filter(i -> !wide.contains(i))
                .boxed()
                .toList());
        boolean areAdjacent = order.stream().noneMatch(i -> i > wide.get(0) && i < last && shape.dim(i) > 1);
        order.addAll(wide);
        Arg ordered = areAdjacent ? data : e.transpose(data, order);
        int inner = areAdjacent
                ? shape.dims().subList(last + 1, shape.rank()).stream().reduce(1, (a, b) -> a * b)
                : 1;
        int outer = (int) (shape.elements() / count / inner);
        Arg image = e.reshape(ordered, List.of(outer, count, 1, inner));
        OnnxAveragePool.Order by = areAdjacent ? form.order(node, outer, inner) : OnnxAveragePool.Order.ROWS;
        Arg bytes = inSinglePrecision(Window.of(count, 1), by, image);
        return e.reshape(bytes, result(reduce, shape));
    }

    private static List<Integer> result(Reduce reduce, Shape shape) {
        List<Integer> dims = new ArrayList<>();
        for (int i = 0; i < shape.rank(); i++) {
            if (!reduce.axes().contains(i)) {
                dims.add(shape.dim(i));
            } else if (reduce.keepDims()) {
                dims.add(1);
            }
        }
        return dims;
    }

    private Arg rescaled(Arg sums, long count) {
        Arg bytes = node.emit(
                new QnnRequantize(-1, Rounding.ONNX, DType.INT8),
                sums,
                Constant.scalar(form.data().by().scale()),
                Constant.scalar(0),
                Constant.scalar(form.to().scale() * count),
                Constant.scalar(form.to().zeroPoint()));
        return QuantizedForms.limited(node, bytes, form.limits());
    }
}
