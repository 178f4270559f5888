// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.elementwise;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.microsoft;
import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.elementwise.OnnxElementwiseImporters.OnnxUnaryImporter;
import io.kiln.frontend.onnx.elementwise.OnnxElementwiseImporters.WiderElements;
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
import java.util.function.BiFunction;

/** Activations and other functions of one input by ONNX's operator pages; those of several others are exact to a few units in the last place. */
final class ActivationImporters {
    private static final double LARGE = 1 << 20;
    private static final double HALF_PI = Math.PI / 2;

    /** Coefficients of atan(x) / x in powers of x^2 for |x| up to 1, within 2e-8 (Abramowitz and Stegun, 4.4.49). */
    private static final double[] ARC_TANGENT = {
        0.0028662257,
        -0.0161657367,
        0.0429096138,
        -0.0752896400,
        0.1065626393,
        -0.1420889944,
        0.1999355085,
        -0.3333314528,
        1
    };

    private static final int CLIP_INPUTS = 11;
    private static final float SELU_ALPHA = 1.6732632f;
    private static final float SELU_GAMMA = 1.050701f;

    static final List<OnnxRegistration> ALL = List.of(
            onnx("Relu", ActivationImporters::relu),
            onnx("Clip", ActivationImporters::clip),
            onnx("LeakyRelu", n -> n.finish(n.emit(new LeakyRelu(n.real("alpha", 0.01f)), n.arg(0)))),
            onnx("Abs", ActivationImporters::abs),
            onnx("Neg", ActivationImporters::negative),
            onnx("Reciprocal", ActivationImporters::reciprocal),
            onnx("Elu", n -> n.finish(elu(n, n.real("alpha", 1), n.real("alpha", 1), 1))),
            onnx("Celu", n -> {
                float alpha = n.real("alpha", 1);
                n.finish(elu(n, alpha, alpha, 1 / alpha));
            }),
            onnx("Selu", ActivationImporters::selu),
            onnx("HardSigmoid", ActivationImporters::hardSigmoid),
            onnx("ThresholdedRelu", ActivationImporters::thresholdedRelu),
            onnx("Shrink", ActivationImporters::shrink),
            onnx("Softplus", n -> n.finish(softplus(n, n.arg(0)))),
            onnx("Softsign", ActivationImporters::softsign),
            onnx("Mish", ActivationImporters::mish),
            onnx("Swish", n -> n.finish(swish(n, n.arg(0), n.real("alpha", 1)))),
            microsoft("QuickGelu", n -> n.finish(swish(n, n.arg(0), n.real("alpha", 1.702f)))),
            onnx("Erf", new OnnxUnaryImporter(Unary.Kind.ERF)),
            onnx("Gelu", ActivationImporters::gelu),
            microsoft("Gelu", ActivationImporters::gelu),
            function("Tan", (e, x) -> e.divide(e.unary(Unary.Kind.SIN, x), e.unary(Unary.Kind.COS, x))),
            function("Sinh", ActivationImporters::sinh),
            function("Cosh", ActivationImporters::cosh),
            function("Asinh", ActivationImporters::asinh),
            function("Acosh", ActivationImporters::acosh),
            function("Atanh", ActivationImporters::atanh),
            function("Atan", ActivationImporters::atan),
            function("Asin", ActivationImporters::asin),
            function("Acos", (e, x) -> e.subtract(e.real(HALF_PI), asin(e, x))));

    private ActivationImporters() {}

    /** {@code x / (1 + exp(-alpha * x))}. */
    private static Arg swish(Formulas e, Arg data, float alpha) {
        return e.multiply(data, e.unary(Unary.Kind.SIGMOID, alpha == 1 ? data : e.multiply(data, alpha)));
    }

    private static void relu(NodeContext node) {
        boolean isFloat = node.dtype(node.arg(0)).isFloat();
        node.finish(
                isFloat
                        ? node.emit(new Clip(0, Float.MAX_VALUE), node.arg(0))
                        : node.maximum(node.arg(0), node.number(0, node.dtype(node.arg(0)))));
    }

    /** Limits are attributes before version 11, then inputs; a missing one means none. */
    private static void clip(NodeContext node) {
        DType dtype = node.dtype(node.arg(0));
        Optional<Arg> min = limit(node, 1, "min");
        Optional<Arg> max = limit(node, 2, "max");
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
            value = WiderElements.apply(node, Binary.Kind.MAXIMUM, node.element(0), value, min.orElseThrow());
        }
        if (max.isPresent()) {
            value = WiderElements.apply(node, Binary.Kind.MINIMUM, node.element(0), value, max.orElseThrow());
        }
        node.finish(value);
    }

    private static Optional<Arg> limit(NodeContext node, int index, String attribute) {
        if (node.version() >= CLIP_INPUTS) {
            return node.optional(index).map(value -> node.reshape(value.arg(), List.of()));
        }
        return node.real(attribute).map(value -> node.real(value));
    }

    private static void abs(NodeContext node) {
        Arg data = node.arg(0);
        switch (node.dtype(data)) {
            case FLOAT32 -> node.finish(node.abs(data));
            case UINT8, UINT32, UINT64, BOOL -> node.finish(data);
            default -> node.finish(node.maximum(data, node.subtract(node.number(0, node.dtype(data)), data)));
        }
    }

    private static void negative(NodeContext node) {
        Arg data = node.arg(0);
        node.finish(
                node.dtype(data).isFloat() ? node.negate(data) : node.subtract(node.number(0, node.dtype(data)), data));
    }

    private static void reciprocal(NodeContext node) {
        node.finish(node.divide(node.real(1), node.arg(0)));
    }

    /** {@code x < 0 ? factor * (exp(x * slope) - 1) : x}; alpha 1 is an operator of the IR. */
    private static Arg elu(NodeContext node, float alpha, float factor, float slope) {
        Arg data = node.arg(0);
        if (alpha == 1) {
            return node.unary(Unary.Kind.ELU, data);
        }
        Arg power = node.add(node.exp(slope == 1 ? data : node.multiply(data, slope)), -1);
        Arg isNegative = node.less(data, node.real(0));
        return node.where(isNegative, node.multiply(power, factor), data);
    }

    private static void selu(NodeContext node) {
        float alpha = node.real("alpha", SELU_ALPHA);
        float gamma = node.real("gamma", SELU_GAMMA);
        node.finish(node.multiply(elu(node, alpha, alpha, 1), gamma));
    }

    private static void hardSigmoid(NodeContext node) {
        Arg line = node.add(node.multiply(node.arg(0), node.real("alpha", 0.2f)), node.real("beta", 0.5f));
        node.finish(node.emit(new Clip(0, 1), line));
    }

    private static void thresholdedRelu(NodeContext node) {
        Constant alpha = node.real(node.real("alpha", 1));
        Arg isAbove = node.greater(node.arg(0), alpha);
        node.finish(node.where(isAbove, node.arg(0), node.real(0)));
    }

    private static void shrink(NodeContext node) {
        Arg data = node.arg(0);
        float bias = node.real("bias", 0);
        float lambda = node.real("lambd", 0.5f);
        Arg isBelow = node.less(data, node.number(-lambda, node.dtype(data)));
        Arg isAbove = node.greater(data, node.number(lambda, node.dtype(data)));
        Arg above = node.where(isAbove, node.add(data, -bias), node.number(0, node.dtype(data)));
        node.finish(node.where(isBelow, node.add(data, bias), above));
    }

    /** {@code log(1 + exp(x))}, without overflow: {@code max(x, 0) + log(1 + exp(-|x|))}. */
    private static Arg softplus(Formulas e, Arg data) {
        Arg magnitude = e.negate(e.abs(data));
        Arg rest = e.log(e.add(e.exp(magnitude), 1));
        return e.add(e.maximum(data, e.real(0)), rest);
    }

    private static void softsign(NodeContext node) {
        node.finish(node.divide(node.arg(0), node.add(node.abs(node.arg(0)), 1)));
    }

    private static void mish(NodeContext node) {
        node.finish(node.multiply(node.arg(0), node.unary(Unary.Kind.TANH, softplus(node, node.arg(0)))));
    }

    private static OnnxRegistration function(String name, BiFunction<Formulas, Arg, Arg> formula) {
        return onnx(name, n -> n.finish(formula.apply(n, n.arg(0))));
    }

    /** The value with the sign of x. */
    private static Arg signed(Formulas e, Arg value, Arg x) {
        Arg isNegative = e.less(x, e.real(0));
        return e.where(isNegative, e.negate(value), value);
    }

    /** {@code log(1 + x)} without the error of the sum: {@code x * log(w) / (w - 1)} with {@code w = 1 + x} as rounded. */
    private static Arg log1p(Formulas e, Arg x) {
        Arg w = e.add(x, 1);
        Arg rounded = e.add(w, -1);
        Arg isZero = e.equal(rounded, e.real(0));
        Arg divisor = e.where(isZero, e.real(1), rounded);
        Arg isInfinite = e.greater(x, e.real(Float.MAX_VALUE / 2));
        Arg log = e.log(w);
        Arg scaled = e.where(isInfinite, log, e.multiply(log, e.divide(x, divisor)));
        return e.where(isZero, x, scaled);
    }

    /** {@code -t * (2 + t) / (2 * (1 + t))} with {@code t = exp(-|x|) - 1}, which does not cancel. */
    private static Arg sinh(Formulas e, Arg x) {
        Arg t = e.unary(Unary.Kind.ELU, e.negate(e.abs(x)));
        Arg above = e.multiply(e.negate(t), e.add(t, 2));
        return signed(e, e.divide(above, e.multiply(e.add(t, 1), 2)), x);
    }

    private static Arg cosh(Formulas e, Arg x) {
        Arg up = e.exp(e.add(e.abs(x), -Math.log(2)));
        return e.add(up, e.divide(e.real(0.25), up));
    }

    /** {@code log(1 + |x| + x^2 / (1 + sqrt(x^2 + 1)))}, and {@code log(2 |x|)} of large numbers. */
    private static Arg asinh(Formulas e, Arg x) {
        Arg a = e.abs(x);
        Arg root = e.sqrt(e.add(e.multiply(a, a), 1));
        Arg rest = e.divide(e.multiply(a, a), e.add(root, 1));
        return signed(e, logOfTwice(e, a, log1p(e, e.add(a, rest))), x);
    }

    /** {@code log(1 + t + sqrt(t) sqrt(t + 2))} with {@code t = x - 1}, and {@code log(2 x)} of large numbers. */
    private static Arg acosh(Formulas e, Arg x) {
        Arg t = e.add(x, -1);
        Arg root = e.multiply(e.sqrt(t), e.sqrt(e.add(t, 2)));
        return logOfTwice(e, x, log1p(e, e.add(t, root)));
    }

    /** {@code log(2 x)} of numbers whose squares may be infinite and hide a one, another value of the others. */
    private static Arg logOfTwice(Formulas e, Arg x, Arg otherwise) {
        Arg isLarge = e.greater(x, e.real(LARGE));
        return e.where(isLarge, e.add(e.log(x), Math.log(2)), otherwise);
    }

    /** {@code log(1 + 2 |x| / (1 - |x|)) / 2}. */
    private static Arg atanh(Formulas e, Arg x) {
        Arg a = e.abs(x);
        Arg ratio = e.divide(e.multiply(a, 2), e.subtract(e.real(1), a));
        return signed(e, e.multiply(log1p(e, ratio), 0.5), x);
    }

    private static Arg atan(Formulas e, Arg x) {
        Arg a = e.abs(x);
        Arg isLarge = e.greater(a, e.real(1));
        Arg reduced = e.where(isLarge, e.divide(e.real(1), a), a);
        Arg square = e.multiply(reduced, reduced);
        Arg sum = e.real(ARC_TANGENT[0]);
        for (int i = 1; i < ARC_TANGENT.length; i++) {
            sum = e.add(e.multiply(sum, square), ARC_TANGENT[i]);
        }
        Arg angle = e.multiply(sum, reduced);
        return signed(e, e.where(isLarge, e.subtract(e.real(HALF_PI), angle), angle), x);
    }

    /** {@code atan(x / sqrt((1 - x) * (1 + x)))}. */
    private static Arg asin(Formulas e, Arg x) {
        Arg rest = e.multiply(e.subtract(e.real(1), x), e.add(x, 1));
        return atan(e, e.divide(x, e.sqrt(rest)));
    }

    /** {@code x / 2 * (1 + erf(x / sqrt(2)))}, or its approximation by the hyperbolic tangent. */
    private static void gelu(NodeContext node) {
        Arg x = node.arg(0);
        boolean isTanh = node.text("approximate", "none").equals("tanh");
        Arg cube = isTanh ? node.multiply(node.multiply(node.multiply(x, x), x), 0.044715) : x;
        Arg curve = isTanh
                ? node.unary(Unary.Kind.TANH, node.multiply(node.add(x, cube), Math.sqrt(2 / Math.PI)))
                : node.unary(Unary.Kind.ERF, node.multiply(x, Math.sqrt(0.5)));
        node.finish(node.multiply(node.multiply(x, 0.5), node.add(curve, 1)));
    }
}
