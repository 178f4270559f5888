// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.Quantization;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Origin;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.QnnRequantize;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.Arrays;
import java.util.List;

/** Turns a mean of floats into a sum of bytes as its importer emits it: that of a window is a depthwise convolution with ones. */
final class IntegerMean implements NodeContext.Emitter {
    private final NodeContext node;
    private final MeanForm form;

    IntegerMean(NodeContext node, MeanForm form) {
        this.node = node;
        this.form = form;
    }

    @Override
    public Arg emit(Op op, List<Arg> args, Origin origin) {
        if (op instanceof AvgPool2d pool && !pool.window().isPadded()) {
            return window(op, pool.window(), args.get(0));
        }
        if (op instanceof Reduce reduce && reduce.kind() == Reduce.Kind.MEAN) {
            return reduced(reduce, args.get(0));
        }
        if (op instanceof Transpose || op instanceof Reshape) {
            return node.emit(op, args);
        }
        throw new NoIntegers(op);
    }

    private Arg window(Op op, Window window, Arg data) {
        int channels = node.type(data).shape().dim(3);
        long count = (long) window.kernelH() * window.kernelW();
        requireClear(op, count);
        Shape shape = channels == 1
                ? Shape.of(1, window.kernelH(), window.kernelW(), 1)
                : Shape.of(window.kernelH(), window.kernelW(), channels, 1);
        byte[] ones = new byte[(int) shape.elements()];
        Arrays.fill(ones, (byte) 1);
        Quantization by = form.data().by();
        Arg sums = node.emit(
                new QnnConv2d(window, channels, channels, channels == 1 ? "OHWI" : "HWOI"),
                data,
                new Constant("", new TensorType(shape, DType.INT8), Bytes.wrap(ones)),
                Constant.scalar(by.zeroPoint()),
                Constant.scalar(0),
                Constant.scalar(by.scale()),
                Constant.scalar(1f));
        return rescaled(sums, count);
    }

    private Arg reduced(Reduce reduce, Arg data) {
        Expressions e = new Expressions(node);
        long count = 1;
        for (int axis : reduce.axes()) {
            count *= node.type(data).shape().dim(axis);
        }
        requireClear(reduce, count);
        Arg centred = e.add(e.cast(data, DType.INT32), -form.data().by().zeroPoint());
        Arg sums = node.emit(new Reduce(Reduce.Kind.SUM, reduce.axes(), reduce.keepDims()), centred);
        return rescaled(sums, count);
    }

    private void requireClear(Op op, long count) {
        if (!form.isClear(count)) {
            throw new NoIntegers(op);
        }
    }

    private Arg rescaled(Arg sums, long count) {
        Arg bytes = node.emit(
                new QnnRequantize(-1, Rounding.ONNX, DType.INT8),
                sums,
                Constant.scalar(form.data().by().scale()),
                Constant.scalar(0),
                Constant.scalar(form.to().scale() * count),
                Constant.scalar(form.to().zeroPoint()));
        return IntegerForms.limited(node, bytes, form.limits());
    }
}
