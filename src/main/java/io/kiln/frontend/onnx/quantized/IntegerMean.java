// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.Emitter;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Origin;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.QnnQuantize;
import io.kiln.ir.op.element.QnnRequantize;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.List;

/** Turns a mean of floats into a sum of bytes as its importer emits it: that of a window is a depthwise convolution with ones. */
final class IntegerMean implements Emitter {
    /** Floats of a vector register. */
    private static final int LANES = 4;

    private final NodeContext node;
    private final MeanForm form;

    IntegerMean(NodeContext node, MeanForm form) {
        this.node = node;
        this.form = form;
    }

    @Override
    public Arg emit(Op op, List<Arg> args, Origin origin) {
        if (op instanceof AvgPool2d pool && !pool.window().isPadded()) {
            return window(pool.window(), args.get(0));
        }
        if (op instanceof Reduce reduce && reduce.kind() == Reduce.Kind.MEAN) {
            return reduced(reduce, args.get(0));
        }
        if (op instanceof Transpose || op instanceof Reshape) {
            return node.emit(op, args);
        }
        throw new NoIntegers(op);
    }

    private Arg window(Window window, Arg data) {
        int channels = node.type(data).shape().dim(3);
        long count = (long) window.kernelH() * window.kernelW();
        if (!form.isClear(count)) {
            return rounded(window, data, count);
        }
        ElementQuantization by = form.data().by();
        Arg sums = node.emit(
                new QnnConv2d(window, channels, channels, layout(channels)),
                data,
                ones(window, channels, DType.INT8),
                Constant.scalar(by.zeroPoint()),
                Constant.scalar(0),
                Constant.scalar(by.scale()),
                Constant.scalar(1f));
        return rescaled(sums, count);
    }

    /** In floats, in ONNX Runtime's order: the columns of a window first (MlasPool2DVectorKernel in core/mlas/lib/pooling.cpp). */
    private Arg rounded(Window window, Arg data, long count) {
        Expressions e = new Expressions(node);
        int channels = node.type(data).shape().dim(3);
        Arg real = QuantizedBytes.dequantized(
                        node, new Dequantized(data, form.data().by()))
                .arg();
        Window columns =
                Window.of(window.kernelH(), 1).strided(window.strideH(), 1).dilated(window.dilationH(), 1);
        Window rows =
                Window.of(1, window.kernelW()).strided(1, window.strideW()).dilated(1, window.dilationW());
        for (Window each : List.of(columns, rows)) {
            real = node.emit(
                    new Conv2d(each, channels, channels, layout(channels)), real, ones(each, channels, DType.FLOAT32));
        }
        return quantized(e.divide(real, e.number((double) count, DType.FLOAT32)));
    }

    private static String layout(int channels) {
        return channels == 1 ? "OHWI" : "HWOI";
    }

    private Constant ones(Window window, int channels, DType dtype) {
        Expressions e = new Expressions(node);
        Shape shape = channels == 1
                ? Shape.of(1, window.kernelH(), window.kernelW(), 1)
                : Shape.of(window.kernelH(), window.kernelW(), channels, 1);
        return (Constant) e.broadcast(e.number(1, dtype), shape);
    }

    private Arg reduced(Reduce reduce, Arg data) {
        Expressions e = new Expressions(node);
        long count = 1;
        for (int axis : reduce.axes()) {
            count *= node.type(data).shape().dim(axis);
        }
        if (!form.isClear(count)) {
            if (!node.node().operator().equals("GlobalAveragePool")) {
                throw new NoIntegers(reduce);
            }
            return roundedMean(reduce, data, (int) count);
        }
        Arg centred = e.add(e.cast(data, DType.INT32), -form.data().by().zeroPoint());
        Arg sums = node.emit(new Reduce(Reduce.Kind.SUM, reduce.axes(), reduce.keepDims()), centred);
        return rescaled(sums, count);
    }

    /** In floats, in ONNX Runtime's order: four sums of every fourth element, then the rest (MlasPoolGlobalKernel). */
    private Arg roundedMean(Reduce reduce, Arg data, int count) {
        Expressions e = new Expressions(node);
        Shape shape = e.shape(data);
        int batch = shape.dim(0);
        int channels = shape.dim(-1);
        Arg real = QuantizedBytes.dequantized(
                        node, new Dequantized(data, form.data().by()))
                .arg();
        Arg all = e.reshape(real, List.of(batch, count, channels));
        int whole = count / LANES;
        Arg sum = e.number(0, DType.FLOAT32);
        if (whole > 0) {
            Arg lanes = e.reshape(e.slice(all, 1, 0, whole * LANES), List.of(batch, whole, LANES, channels));
            Arg sums = e.reshape(e.reduce(Reduce.Kind.SUM, lanes, List.of(1)), List.of(batch, LANES, channels));
            Arg halves = e.add(e.slice(sums, 1, 0, 2), e.slice(sums, 1, 2, LANES));
            sum = e.add(e.slice(halves, 1, 0, 1), e.slice(halves, 1, 1, 2));
        }
        for (int i = whole * LANES; i < count; i++) {
            sum = e.add(sum, e.slice(all, 1, i, i + 1));
        }
        Shape result = node.type(node.emit(reduce, real)).shape();
        return quantized(e.reshape(e.divide(sum, e.number(count, DType.FLOAT32)), result));
    }

    private Arg quantized(Arg real) {
        Arg bytes = node.emit(
                new QnnQuantize(DType.INT8, Rounding.ONNX),
                real,
                Constant.scalar(form.to().scale()),
                Constant.scalar(form.to().zeroPoint()));
        return QuantizedForms.limited(node, bytes, form.limits());
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
