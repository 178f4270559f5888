// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.elementwise;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.microsoft;
import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.LeakyRelu;
import io.kiln.ir.op.element.Unary;
import java.util.List;
import java.util.Optional;

/** Activations and other functions of one input; formulas are those of ONNX's operator pages. */
final class ActivationImporters {
    private static final int CLIP_INPUTS = 11;
    private static final float SELU_ALPHA = 1.6732632f;
    private static final float SELU_GAMMA = 1.050701f;

    static final List<OnnxRegistration> ALL = List.of(
            onnx("Relu", ActivationImporters::relu),
            onnx("Clip", ActivationImporters::clip),
            onnx("LeakyRelu", n -> n.finish(n.emit(new LeakyRelu(n.attributes().real("alpha", 0.01f)), n.arg(0)))),
            onnx("Abs", ActivationImporters::abs),
            onnx("Neg", ActivationImporters::negative),
            onnx("Reciprocal", ActivationImporters::reciprocal),
            onnx(
                    "Elu",
                    n -> n.finish(elu(
                            n, n.attributes().real("alpha", 1), n.attributes().real("alpha", 1), 1))),
            onnx("Celu", n -> {
                float alpha = n.attributes().real("alpha", 1);
                n.finish(elu(n, alpha, alpha, 1 / alpha));
            }),
            onnx("Selu", ActivationImporters::selu),
            onnx("HardSigmoid", ActivationImporters::hardSigmoid),
            onnx("ThresholdedRelu", ActivationImporters::thresholdedRelu),
            onnx("Shrink", ActivationImporters::shrink),
            onnx("Softplus", n -> n.finish(softplus(new Expressions(n), n.arg(0)))),
            onnx("Softsign", ActivationImporters::softsign),
            onnx("Mish", ActivationImporters::mish),
            onnx(
                    "Swish",
                    n -> n.finish(
                            swish(new Expressions(n), n.arg(0), n.attributes().real("alpha", 1)))),
            microsoft(
                    "QuickGelu",
                    n -> n.finish(
                            swish(new Expressions(n), n.arg(0), n.attributes().real("alpha", 1.702f)))));

    private ActivationImporters() {}

    /** {@code x / (1 + exp(-alpha * x))}. */
    private static Arg swish(Expressions e, Arg data, float alpha) {
        return e.multiply(data, e.unary(Unary.Kind.SIGMOID, alpha == 1 ? data : e.multiply(data, alpha)));
    }

    private static void relu(NodeContext node) {
        Expressions e = new Expressions(node);
        boolean isFloat = e.dtype(node.arg(0)).isFloat();
        node.finish(
                isFloat
                        ? node.emit(new Clip(0, Float.MAX_VALUE), node.arg(0))
                        : e.binary(Binary.Kind.MAXIMUM, node.arg(0), e.number(0, e.dtype(node.arg(0)))));
    }

    /** Limits are attributes before version 11, then inputs; a missing one means none. */
    private static void clip(NodeContext node) {
        Expressions e = new Expressions(node);
        DType dtype = e.dtype(node.arg(0));
        Optional<Arg> min = limit(node, e, 1, "min");
        Optional<Arg> max = limit(node, e, 2, "max");
        boolean isKnown = dtype.isFloat()
                && min.stream().allMatch(Constant.class::isInstance)
                && max.stream().allMatch(Constant.class::isInstance);
        if (isKnown) {
            float low = min.map(v -> ((Constant) v).real(0)).orElse(-Float.MAX_VALUE);
            float high = max.map(v -> ((Constant) v).real(0)).orElse(Float.MAX_VALUE);
            if (low <= high && !Float.isInfinite(low) && !Float.isInfinite(high)) {
                node.finish(node.emit(new Clip(low, high), node.arg(0)));
                return;
            }
        }
        Arg value = node.arg(0);
        if (min.isPresent()) {
            value = WiderElements.apply(e, Binary.Kind.MAXIMUM, node.element(0), value, min.orElseThrow());
        }
        if (max.isPresent()) {
            value = WiderElements.apply(e, Binary.Kind.MINIMUM, node.element(0), value, max.orElseThrow());
        }
        node.finish(value);
    }

    private static Optional<Arg> limit(NodeContext node, Expressions e, int index, String attribute) {
        if (node.version() >= CLIP_INPUTS) {
            return node.optional(index).map(value -> e.reshape(value.arg(), List.of()));
        }
        return node.attributes().real(attribute).map(value -> e.number(value, DType.FLOAT32));
    }

    private static void abs(NodeContext node) {
        Expressions e = new Expressions(node);
        Arg data = node.arg(0);
        switch (e.dtype(data)) {
            case FLOAT32 -> node.finish(e.unary(Unary.Kind.ABS, data));
            case UINT8, UINT32, UINT64, BOOL -> node.finish(data);
            default -> node.finish(e.binary(Binary.Kind.MAXIMUM, data, e.subtract(e.number(0, e.dtype(data)), data)));
        }
    }

    private static void negative(NodeContext node) {
        Expressions e = new Expressions(node);
        Arg data = node.arg(0);
        node.finish(
                e.dtype(data).isFloat()
                        ? e.unary(Unary.Kind.NEGATIVE, data)
                        : e.subtract(e.number(0, e.dtype(data)), data));
    }

    private static void reciprocal(NodeContext node) {
        Expressions e = new Expressions(node);
        node.finish(e.divide(e.number(1, DType.FLOAT32), node.arg(0)));
    }

    /** {@code x < 0 ? factor * (exp(x * slope) - 1) : x}; alpha 1 is an operator of the IR. */
    private static Arg elu(NodeContext node, float alpha, float factor, float slope) {
        Expressions e = new Expressions(node);
        Arg data = node.arg(0);
        if (alpha == 1) {
            return e.unary(Unary.Kind.ELU, data);
        }
        Arg power = e.add(e.unary(Unary.Kind.EXP, slope == 1 ? data : e.multiply(data, slope)), -1);
        Arg isNegative = e.binary(Binary.Kind.LESS, data, e.number(0, DType.FLOAT32));
        return e.where(isNegative, e.multiply(power, factor), data);
    }

    private static void selu(NodeContext node) {
        Expressions e = new Expressions(node);
        float alpha = node.attributes().real("alpha", SELU_ALPHA);
        float gamma = node.attributes().real("gamma", SELU_GAMMA);
        node.finish(e.multiply(elu(node, alpha, alpha, 1), gamma));
    }

    private static void hardSigmoid(NodeContext node) {
        Expressions e = new Expressions(node);
        Arg line = e.add(
                e.multiply(node.arg(0), node.attributes().real("alpha", 0.2f)),
                node.attributes().real("beta", 0.5f));
        node.finish(node.emit(new Clip(0, 1), line));
    }

    private static void thresholdedRelu(NodeContext node) {
        Expressions e = new Expressions(node);
        Constant alpha = e.number(node.attributes().real("alpha", 1), DType.FLOAT32);
        Arg isAbove = e.binary(Binary.Kind.GREATER, node.arg(0), alpha);
        node.finish(e.where(isAbove, node.arg(0), e.number(0, DType.FLOAT32)));
    }

    private static void shrink(NodeContext node) {
        Expressions e = new Expressions(node);
        Arg data = node.arg(0);
        float bias = node.attributes().real("bias", 0);
        float lambda = node.attributes().real("lambd", 0.5f);
        Arg isBelow = e.binary(Binary.Kind.LESS, data, e.number(-lambda, e.dtype(data)));
        Arg isAbove = e.binary(Binary.Kind.GREATER, data, e.number(lambda, e.dtype(data)));
        Arg above = e.where(isAbove, e.add(data, -bias), e.number(0, e.dtype(data)));
        node.finish(e.where(isBelow, e.add(data, bias), above));
    }

    /** {@code log(1 + exp(x))}, without overflow: {@code max(x, 0) + log(1 + exp(-|x|))}. */
    static Arg softplus(Expressions e, Arg data) {
        Arg magnitude = e.unary(Unary.Kind.NEGATIVE, e.unary(Unary.Kind.ABS, data));
        Arg rest = e.unary(Unary.Kind.LOG, e.add(e.unary(Unary.Kind.EXP, magnitude), 1));
        return e.add(e.binary(Binary.Kind.MAXIMUM, data, e.number(0, DType.FLOAT32)), rest);
    }

    private static void softsign(NodeContext node) {
        Expressions e = new Expressions(node);
        node.finish(e.divide(node.arg(0), e.add(e.unary(Unary.Kind.ABS, node.arg(0)), 1)));
    }

    private static void mish(NodeContext node) {
        Expressions e = new Expressions(node);
        node.finish(e.multiply(node.arg(0), e.unary(Unary.Kind.TANH, softplus(e, node.arg(0)))));
    }
}
