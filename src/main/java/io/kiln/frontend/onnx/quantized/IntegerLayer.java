// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.NodeContext.Emitter;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm.Limits;
import io.kiln.frontend.onnx.quantized.QuantizedForms.NoIntegers;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Origin;
import io.kiln.ir.arith.FloatPrecision;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.OnnxRequantize;
import io.kiln.ir.op.element.QnnRequantize;
import io.kiln.ir.op.element.TflRealRequantize;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Conv2dTranspose;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnConv2dTranspose;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * Turns the operators of a float layer into those of a quantized one as its importer emits them: the layer's sums are rescaled right
 * after the bias, so that what follows moves bytes.
 */
final class IntegerLayer implements Emitter {
    /** Largest step of sums of integers of 16 bits, in steps of the result, to which a bias of real numbers is rounded. */
    private static final double MOST_STEP = 1.0 / 16;

    /** Largest bias that leaves room for sums. */
    private static final double MOST_BIAS = 1L << 40;

    private final NodeContext node;
    private final SumForm form;
    private final ElementQuantization to;
    private final Limits limits;

    IntegerLayer(NodeContext node, SumForm form, ElementQuantization to, Limits limits) {
        this.node = node;
        this.form = form;
        this.to = to;
        this.limits = limits;
    }

    @Override
    public Arg emit(Op op, List<Arg> args, Origin origin) {
        if (op instanceof Conv2d conv) {
            return sums(
                    new QnnConv2d(conv.window(), conv.groups(), conv.channels(), conv.kernelLayout(), sumType()), args);
        }
        if (op instanceof Dense dense) {
            return sums(new QnnDense(dense.units(), sumType()), args);
        }
        if (op instanceof Conv2dTranspose conv) {
            return sums(new QnnConv2dTranspose(conv.window(), conv.channels(), DType.INT32), args);
        }
        if (op instanceof TflBatchMatmul) {
            return rescaled(node.emit(op, args.get(0), args.get(1), zeroPoint(form.data()), zeroPoint(form.weight())));
        }
        if (op instanceof BiasAdd || isBias(op, args)) {
            return rescaled(
                    hasOneZeroPoint()
                            ? node.emit(new BiasAdd(-1), args.get(0), node.cast(args.get(1), sumType()))
                            : node.add(args.get(0), args.get(1)));
        }
        if (op instanceof Pad) {
            return node.emit(op, args.get(0), zeroElement());
        }
        if (isMovement(op)) {
            return node.emit(op, args);
        }
        throw new NoIntegers(op);
    }

    private DType sumType() {
        return form.isWide() ? DType.INT64 : DType.INT32;
    }

    /** Whether it adds the bias to channels, which are last. */
    private boolean isBias(Op op, List<Arg> args) {
        return form.words().isPresent()
                && op instanceof Binary sum
                && sum.kind() == Binary.Kind.ADD
                && node.type(args.get(1))
                        .shape()
                        .equals(Shape.of(node.type(args.get(0)).shape().dim(-1)));
    }

    /** Whether an operator only moves elements, of any type. */
    static boolean isMovement(Op op) {
        return op instanceof Transpose || op instanceof Reshape || op instanceof StridedSlice;
    }

    private boolean hasOneZeroPoint() {
        return form.weight().by().hasOneZeroPoint();
    }

    private Arg sums(Layer op, List<Arg> args) {
        Arg sums = products(op, args.get(0), args.get(1));
        if (!hasOneZeroPoint()) {
            sums = node.subtract(sums, products(op, args.get(0), zeroPoints(op, args.get(1))));
        }
        return form.words().isPresent() ? sums : rescaled(sums);
    }

    private Arg products(Op op, Arg data, Arg weights) {
        return node.emit(
                op,
                data,
                weights,
                zeroPoint(form.data()),
                hasOneZeroPoint() ? zeroPoint(form.weight()) : Constant.scalar(0),
                Constant.scalar(form.data().by().scale()),
                scales(form.weight().by().scales()));
    }

    /** The zero points of channels in place of all their weights: what the sums with weights have too much. */
    private Arg zeroPoints(Layer op, Arg weights) {
        Shape shape = node.type(weights).shape();
        boolean isDepthwise =
                op instanceof QnnConv2d conv && !conv.kernelLayout().equals("OHWI");
        int perChannel =
                (int) shape.elements() / form.weight().by().zeroPoints().size();
        int channels = form.weight().by().zeroPoints().size();
        byte[] zeros = new byte[(int) shape.elements()];
        for (int i = 0; i < zeros.length; i++) {
            int channel = isDepthwise ? i % channels : i / perChannel;
            zeros[i] = form.weight().by().zeroPoints().get(channel).byteValue();
        }
        return node.bytes(zeros, shape);
    }

    /** Exact; ONNX Runtime's sums of floats may lie on the other side of a half. */
    private Arg rescaledShorts(Arg sums) {
        TflRealRequantize op = new TflRealRequantize(to.isOfShorts() ? DType.INT16 : DType.INT8, FloatPrecision.DOUBLE);
        return node.emit(
                op,
                form.reals()
                        .map(bias -> node.emit(
                                new BiasAdd(-1),
                                sums,
                                words(op, bias, node.type(sums).shape().dim(-1))))
                        .orElse(sums),
                Constant.scalar(form.data().by().scale()),
                scales(form.weight().by().scales()),
                Constant.scalar(to.scale()),
                Constant.scalar(0f),
                Constant.scalar(to.zeroPoint()));
    }

    /** A bias of real numbers on the scale of the sums, whose steps are small beside those of the result. */
    private Constant words(Op op, SumForm.Bias.Reals bias, int channels) {
        Constant reals = bias.ofChannels(channels);
        List<Float> scales = form.weight().by().scales();
        return Constant.integers("", new TensorType(Shape.of(channels), DType.INT64), c -> {
            double step = (double) form.data().by().scale() * scales.get(scales.size() == 1 ? 0 : c);
            double steps = Math.rint(reals.real(c) / step);
            if (step > MOST_STEP * to.scale() || Math.abs(steps) > MOST_BIAS) {
                throw new NoIntegers(op);
            }
            return (long) steps;
        });
    }

    private Arg rescaled(Arg sums) {
        if (form.isWide()) {
            return QuantizedForms.limited(node, rescaledShorts(sums), limits);
        }
        Arg bytes = form.reals()
                .map(bias -> withRealBias(sums, bias))
                .orElseGet(() -> node.emit(
                        new QnnRequantize(-1, Rounding.ONNX, DType.INT8),
                        sums,
                        scales(form.scales()),
                        Constant.scalar(0),
                        Constant.scalar(to.scale()),
                        Constant.scalar(to.zeroPoint())));
        return QuantizedForms.limited(node, bytes, limits);
    }

    private Arg withRealBias(Arg sums, SumForm.Bias.Reals bias) {
        return node.emit(
                new OnnxRequantize(),
                sums,
                Constant.scalar(form.data().by().scale()),
                scales(form.weight().by().scales()),
                bias.ofChannels(node.type(sums).shape().dim(-1)),
                Constant.scalar(to.scale()),
                Constant.scalar(to.zeroPoint()));
    }

    private static Constant scales(List<Float> scales) {
        Shape shape = scales.size() == 1 ? Shape.scalar() : Shape.of(scales.size());
        return Constant.reals("", shape, scales::get);
    }

    private static Constant zeroPoint(Dequantized operand) {
        return Constant.scalar(operand.by().zeroPoint());
    }

    private Constant zeroElement() {
        if (form.isWide()) {
            return node.number(0, DType.INT16);
        }
        byte zero = (byte) form.data().by().zeroPoint();
        return node.bytes(new byte[] {zero}, Shape.scalar());
    }
}
