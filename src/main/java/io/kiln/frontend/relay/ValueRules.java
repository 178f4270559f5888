// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.FilterBankLayout;
import io.kiln.ir.arith.TflBinaryScales;
import io.kiln.ir.arith.TflNormalization;
import io.kiln.ir.arith.TflSoftmaxTables;
import io.kiln.ir.arith.TflWideSoftmax;
import io.kiln.ir.op.BiasAdd;
import io.kiln.ir.op.Clip;
import io.kiln.ir.op.Conv2d;
import io.kiln.ir.op.FilterBankAccumulate;
import io.kiln.ir.op.FixedPointMultiply;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.QnnAdd;
import io.kiln.ir.op.QnnBinary;
import io.kiln.ir.op.QnnConv2d;
import io.kiln.ir.op.QnnDense;
import io.kiln.ir.op.QnnDequantize;
import io.kiln.ir.op.QnnQuantize;
import io.kiln.ir.op.QnnRequantize;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Softmax;
import io.kiln.ir.op.TflNormalize;
import io.kiln.ir.op.TflRequantize;
import io.kiln.ir.op.TflSoftmax;
import io.kiln.ir.op.TflSum;
import io.kiln.ir.type.TensorType;
import java.util.Map;
import java.util.function.LongPredicate;

/** Ranges of an operator's numbers: scales, zero points, multipliers, limits and layouts. */
final class ValueRules {
    private static final double MOST_RATIO = 1 << 29;
    private static final double MOST_SUM_RATIO = 1 << 20;

    /** Receives every rule and whether it holds. */
    interface Requirement {
        void require(boolean holds, String what, String expected);
    }

    private final Binding binding;
    private final Map<Integer, TensorType> types;
    private final Requirement rules;

    ValueRules(Binding binding, Map<Integer, TensorType> types, Requirement rules) {
        this.binding = binding;
        this.types = types;
        this.rules = rules;
    }

    void check() {
        Op op = binding.op();
        if (op instanceof Conv2d conv) {
            layout(conv.isDepthwise(data().shape().dim(3)), conv.kernelLayout());
        } else if (op instanceof QnnConv2d conv) {
            layout(conv.isDepthwise(data().shape().dim(3)), conv.kernelLayout());
            quantization(4, 2, DType.INT8);
            scales(5);
            kernelZeroPoint();
        } else if (op instanceof QnnDense) {
            quantization(4, 2, DType.INT8);
            scales(5);
            kernelZeroPoint();
        } else if (op instanceof QnnAdd add) {
            quantization(2, 3, data().dtype());
            quantization(4, 5, data().dtype());
            quantization(6, 7, data().dtype());
            if (add.rounding() == Rounding.UPWARD) {
                ratio(2, 6, MOST_SUM_RATIO);
                ratio(4, 6, MOST_SUM_RATIO);
            }
        } else if (op instanceof QnnBinary binary) {
            quantizedBinary(binary);
        } else if (op instanceof QnnQuantize quantize) {
            quantization(1, 2, quantize.outDtype());
        } else if (op instanceof QnnDequantize) {
            quantization(1, 2, data().dtype());
        } else if (op instanceof QnnRequantize requantize) {
            scales(1);
            quantization(3, 4, DType.INT8);
            requantize(requantize);
        } else if (op instanceof TflRequantize requantize) {
            requantize(requantize);
        } else if (op instanceof FixedPointMultiply) {
            integers(
                    FixedPointMultiply.SHIFT,
                    "shift",
                    shift -> shift >= 1 && shift <= FixedPointMultiply.MOST_SHIFT,
                    "1 to " + FixedPointMultiply.MOST_SHIFT);
        } else if (op instanceof BiasAdd bias) {
            lastAxis(bias.axis());
        } else if (op instanceof Clip clip) {
            clip(clip);
        } else if (op instanceof Softmax softmax) {
            softmax(softmax.beta());
        } else if (op instanceof TflSoftmax softmax) {
            fixedPointSoftmax(softmax.beta(), softmax.outDtype());
        } else if (op instanceof TflNormalize normalize) {
            normalize(normalize);
        } else if (op instanceof TflSum sum) {
            sum(sum);
        } else if (op instanceof FilterBankAccumulate bank) {
            channels(bank);
        }
    }

    /** Constants that are none are told elsewhere. */
    private void channels(FilterBankAccumulate bank) {
        if (binding.args().stream().skip(1).allMatch(Constant.class::isInstance)) {
            FilterBankLayout.of(
                            bank.channels() + 1,
                            i -> (int) binding.constant(FilterBankAccumulate.ENERGY_STARTS)
                                    .integer(i),
                            i -> (int) binding.constant(FilterBankAccumulate.WEIGHT_STARTS)
                                    .integer(i),
                            i -> (int) binding.constant(FilterBankAccumulate.WIDTHS)
                                    .integer(i))
                    .problems(
                            data().shape().dim(0),
                            binding.constant(FilterBankAccumulate.WEIGHTS).elements())
                    .forEach(problem -> rules.require(false, problem, "channels within the data and the weights"));
        }
    }

    private TensorType data() {
        Arg arg = binding.args().get(0);
        return arg instanceof Constant constant ? constant.type() : types.get(((Arg.Ref) arg).id());
    }

    private void layout(boolean depthwise, String layout) {
        String expected = depthwise ? "HWOI" : "OHWI";
        rules.require(layout.equals(expected), "kernel_layout is " + layout, expected);
    }

    private void quantization(int scale, int zeroPoint, DType dtype) {
        scales(scale);
        if (dtype.isInteger()) {
            integers(zeroPoint, "zero point", zero -> isIn(dtype, zero), dtype.min() + " to " + dtype.max());
        }
    }

    /** What the reference kernels refuse, or leave undefined. */
    private void quantizedBinary(QnnBinary op) {
        DType dtype = data().dtype();
        quantization(2, 3, dtype);
        quantization(4, 5, op.kind() == QnnBinary.Kind.PRELU ? DType.INT8 : dtype);
        if (!op.kind().isComparison()) {
            quantization(6, 7, dtype);
        }
        if (!areScales(op)) {
            return;
        }
        float lhs = binding.constant(2).real(0);
        float rhs = binding.constant(4).real(0);
        rules.require(
                TflBinaryScales.areDefined(
                        op.kind(),
                        dtype,
                        lhs,
                        rhs,
                        op.kind().isComparison() ? 1 : binding.constant(6).real(0)),
                "the scales of " + op.name() + " are too far apart",
                "scales that the fixed point of " + op.name() + " holds");
    }

    private boolean areScales(QnnBinary op) {
        boolean areScales = true;
        for (int i = op.operands(); i < op.arity(); i += 2) {
            areScales &= binding.args().get(i) instanceof Constant scale
                    && scale.real(0) > 0
                    && Float.isFinite(scale.real(0));
        }
        return areScales;
    }

    private void scales(int index) {
        if (binding.args().get(index) instanceof Constant scales) {
            boolean holds = true;
            for (int i = 0; i < scales.elements(); i++) {
                holds &= scales.real(i) > 0 && Float.isFinite(scales.real(i));
            }
            rules.require(holds, "a scale of " + binding.op().name() + " is none", "finite numbers above 0");
        }
    }

    private void kernelZeroPoint() {
        integers(3, "kernel zero point", zero -> isIn(DType.INT8, zero), "-128 to 127");
    }

    private void integers(int index, String what, LongPredicate rule, String expected) {
        if (binding.args().get(index) instanceof Constant values) {
            for (int i = 0; i < values.elements(); i++) {
                if (!rule.test(values.integer(i))) {
                    rules.require(
                            false, "a " + what + " of " + binding.op().name() + " is " + values.integer(i), expected);
                    return;
                }
            }
        }
    }

    private void requantize(TflRequantize op) {
        integers(1, "multiplier", multiplier -> multiplier >= 0, "0 or more");
        integers(2, "shift", shift -> shift >= -31 && shift <= 30, "-31 to 30");
        lastAxis(op.axis());
        requireZeroPoint("input_zero_point", op.inputZeroPoint(), data().dtype());
        requireZeroPoint("output_zero_point", op.outputZeroPoint(), op.outDtype());
    }

    private void requireZeroPoint(String what, int zeroPoint, DType dtype) {
        boolean wide = dtype.bytes() >= Integer.BYTES;
        rules.require(
                wide ? zeroPoint == 0 : dtype.isInteger() && isIn(dtype, zeroPoint),
                what + " is " + zeroPoint,
                wide ? "0 for " + dtype.text() : "a value of " + dtype.text());
    }

    private void requantize(QnnRequantize op) {
        ratio(1, 3, MOST_RATIO);
        boolean isWide = data().dtype() == DType.INT32;
        integers(
                2,
                "zero point",
                zero -> isWide ? zero == 0 : isIn(DType.INT8, zero),
                isWide ? "0 for int32" : "-128 to 127");
        if (binding.args().get(1) instanceof Constant scales && scales.elements() > 1) {
            lastAxis(op.axis());
        }
    }

    /** Holds the arithmetic of rescaling within its words. */
    private void ratio(int from, int to, double most) {
        if (binding.args().get(from) instanceof Constant inputs
                && binding.args().get(to) instanceof Constant output) {
            for (int i = 0; i < inputs.elements(); i++) {
                double ratio = inputs.real(i) / (double) output.real(0);
                if (Double.isFinite(ratio) && ratio >= most) {
                    rules.require(
                            false,
                            "an input scale of " + binding.op().name() + " is " + ratio + " times the output's",
                            "below " + most + " times");
                    return;
                }
            }
        }
    }

    private void lastAxis(int axis) {
        int rank = data().shape().rank();
        rules.require(axis == -1 || axis == rank - 1, "the axis " + axis + " is not the last", "-1 or " + (rank - 1));
    }

    private void clip(Clip clip) {
        if (data().dtype() == DType.FLOAT32) {
            boolean single = (float) clip.min() == clip.min() && (float) clip.max() == clip.max();
            rules.require(single, "limits of clip are not float32", "limits of the data's type");
        } else if (data().dtype().isInteger()) {
            DType dtype = data().dtype();
            rules.require(
                    isWhole(dtype, clip.min()) && isWhole(dtype, clip.max()),
                    "limits of clip are " + clip.min() + " and " + clip.max(),
                    "whole numbers from " + dtype.min() + " to " + dtype.max());
        }
    }

    private void softmax(float beta) {
        rules.require(beta > 0 && Float.isFinite(beta), "beta is " + beta, "a finite number above 0");
        rules.require(data().shape().rank() > 0, "softmax of a scalar", "a rank of at least 1");
    }

    private void fixedPointSoftmax(float beta, DType result) {
        boolean isWide = data().dtype() == DType.INT16;
        int zeroPoint = TflSoftmax.outputZeroPoint(data().dtype(), result);
        float scale = TflSoftmax.outputScale(data().dtype(), result);
        softmax(beta);
        quantization(1, 2, data().dtype());
        integers(4, "output zero point", zero -> zero == zeroPoint, String.valueOf(zeroPoint));
        if (!(binding.args().get(1) instanceof Constant in) || !(binding.args().get(3) instanceof Constant out)) {
            return;
        }
        rules.require(
                Math.abs(out.real(0) - scale) <= 0.001f * scale,
                "the output scale is " + out.real(0),
                "1/" + Math.round(1 / scale));
        if (data().shape().rank() > 0 && beta > 0 && Float.isFinite(beta) && in.real(0) > 0) {
            int most = isWide ? TflWideSoftmax.MAX_ROW : TflSoftmaxTables.MAX_ROW;
            rules.require(
                    data().shape().dim(-1) <= most,
                    "rows have " + data().shape().dim(-1) + " elements",
                    "at most " + most);
            try {
                requireFixedPoint(isWide, beta, in.real(0));
            } catch (IllegalArgumentException e) {
                rules.require(false, e.getMessage(), "an ordinary input scale");
            }
        }
    }

    private static void requireFixedPoint(boolean isWide, float beta, float scale) {
        if (isWide) {
            TflWideSoftmax.multiplier(beta, scale);
        } else {
            TflSoftmaxTables.exponentials(beta, scale);
        }
    }

    private void normalize(TflNormalize op) {
        quantization(1, 2, DType.INT8);
        if (op.kind() == TflNormalize.Kind.LOG_SOFTMAX && binding.args().get(1) instanceof Constant scale) {
            rules.require(
                    TflNormalization.isScale(scale.real(0)),
                    "the input scale is " + scale.real(0),
                    TflNormalization.scaleText());
        }
    }

    private void sum(TflSum op) {
        DType dtype = data().dtype();
        integers(1, "zero point", zero -> isIn(dtype, zero), dtype.min() + " to " + dtype.max());
        long most = Integer.MAX_VALUE / (dtype.max() - dtype.min());
        rules.require(
                op.terms(data().shape()) <= most,
                "sums of " + op.terms(data().shape()) + " elements may exceed 32 bits",
                "at most " + most + " elements in a sum");
    }

    private static boolean isIn(DType dtype, long value) {
        return value >= dtype.min() && value <= dtype.max();
    }

    private static boolean isWhole(DType dtype, double value) {
        return value == Math.rint(value) && value >= dtype.min() && value <= dtype.max();
    }
}
