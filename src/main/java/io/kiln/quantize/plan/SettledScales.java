// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Quantization;
import io.kiln.ir.arith.TflAddParameters;
import io.kiln.ir.arith.TflInt16Softmax;
import io.kiln.ir.arith.TflPowerScales;
import io.kiln.ir.arith.TflSoftmaxTables;
import io.kiln.ir.arith.table.TflActivations;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.QnnBinary;
import io.kiln.ir.op.element.QnnBinary.TflBinaryScales;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.quantize.graph.FloatGraph;
import io.kiln.quantize.graph.Node;
import io.kiln.quantize.range.ValueRange;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * Scales with which TensorFlow Lite and TensorFlow Lite Micro compute the same. About one scale in 128 gives the same multiplier in both, so a
 * scale grows by units of its last place until that is so; likewise for the few scales with which functions differ, see {@link
 * #tablesAgree}. The kernels of the two differ so:
 *
 * <ul>
 *   <li>MUL (mul.cc) and PRELU (activations.cc, PreluPrepare) multiply and divide scales in single precision in the library, and in double
 *       precision in Micro
 *   <li>UNIDIRECTIONAL_SEQUENCE_LSTM (unidirectional_sequence_lstm.cc, PopulateQuantizedLstmParams8x8_16) divides by the scale of its result
 *       likewise
 *   <li>SUB (sub.cc, PrepareGeneralSubOp) does so in double precision in the library, and in single precision in Micro
 *   <li>ADD and SUB of int16 shift operands in the library, or are refused, if all three scales are {@link TflPowerScales}
 * </ul>
 */
final class SettledScales {
    /** Twice the width in units of the last place of what TensorFlow Lite takes for a power of two. */
    private static final int MOST_STEPS = 1 << 15;

    private static final float LEAST_OF_FUNCTION = 1f / (1 << 30);
    private static final float MOST_OF_FUNCTION = 2;

    /** The rescaling of 64-bit sums is undefined from 2^14 on; the weights' largest integer is 127, and a large bias may double their scale. */
    private static final double MOST_OF_LAYER = 127.0 * (1 << 13);
    /** What single precision and the two processors' exponential functions may differ by, in steps of the result. */
    private static final double MARGIN = 1e-4;
    /** Scale of the product of two functions' results. */
    private static final float GATE_PRODUCT = 1f / (1 << 30);

    private final ScaleGroups groups;
    private final Map<Integer, Precision> precisions;
    private final Map<Key, Scale> known = new HashMap<>();

    /** The scales of each node's operands, then that of its output, by the node's output: a search asks tens of thousands of times. */
    private final Map<Integer, List<Scale>> ofNodes = new HashMap<>();

    /** What has a scale of its own: a group of values, or the constant operand of a node. */
    private record Key(int id, int operand, Precision precision) {
        private static final int GROUP = -1;
    }

    /** A scale that grows. */
    private static final class Scale {
        private final Quantization base;
        private final boolean isFixed;
        /** The nodes so far that it matters to. */
        private final List<Node> settled = new ArrayList<>();

        private int steps;

        Scale(Quantization base, boolean isFixed) {
            this.base = base;
            this.isFixed = isFixed;
        }

        float value() {
            return Float.intBitsToFloat(Float.floatToIntBits(base.scale()) + steps);
        }

        Quantization quantization() {
            return new Quantization(value(), base.zeroPoint());
        }
    }

    private SettledScales(ScaleGroups groups, Map<Integer, Precision> precisions) {
        this.groups = groups;
        this.precisions = precisions;
    }

    /**
     * The scales of a network.
     *
     * @param precisions the precision of each node, by its output
     */
    static SettledScales of(FloatGraph graph, ScaleGroups groups, Map<Integer, Precision> precisions) {
        SettledScales scales = new SettledScales(groups, precisions);
        for (Node node : graph.nodes()) {
            Precision precision = precisions.get(node.output());
            if (precision != Precision.FLOAT && isNeeded(node, precision)) {
                scales.settle(node);
            }
        }
        return scales;
    }

    private void settle(Node node) {
        List<Scale> all = all(node);
        List<Scale> operands = all.subList(0, all.size() - 1);
        for (Scale operand : operands) {
            raise(operand, () -> ofOperands(node, precision(node), scales(node)));
        }
        raise(all.get(operands.size()), () -> agrees(node));
        for (Scale operand : operands) {
            raise(operand, () -> agrees(node));
        }
        all.forEach(scale -> scale.settled.add(node));
    }

    private boolean agrees(Node node) {
        if (node.op() instanceof Unary unary) {
            return tablesAgree(unary.kind(), operand(node, 0), quantization(node.output(), precision(node)));
        }
        return ofOperands(node, precision(node), scales(node)) && ofOutput(node, precision(node), scales(node));
    }

    /** Whether the integer arithmetic of a node is defined for its scales. */
    boolean areKept(Node node) {
        return areScalesKept(node, precision(node), scales(node));
    }

    private Precision precision(Node node) {
        return precisions.get(node.output());
    }

    /** The scales of a node's operands, then that of its output. */
    private List<Float> scales(Node node) {
        List<Float> scales = new ArrayList<>();
        for (Scale scale : all(node)) {
            scales.add(scale.value());
        }
        return scales;
    }

    private List<Scale> all(Node node) {
        return ofNodes.computeIfAbsent(node.output(), output -> {
            List<Scale> all = new ArrayList<>();
            for (int i = 0; i < node.data().size(); i++) {
                all.add(scale(node, i));
            }
            all.add(group(output, precision(node)));
            return all;
        });
    }

    /** A function reads data of a prescribed scale in a scale of its own, if it must. */
    private Scale scale(Node node, int operand) {
        Arg arg = node.data().get(operand);
        Precision precision = precision(node);
        return arg instanceof Arg.Ref ref && !(node.op() instanceof Unary && groups.isFixed(ref.id(), precision))
                ? group(ref.id(), precision)
                : known.computeIfAbsent(
                        new Key(node.output(), operand, precision), key -> new Scale(own(arg, precision), false));
    }

    private Scale group(int id, Precision precision) {
        int root = groups.root(id);
        return known.computeIfAbsent(
                new Key(root, Key.GROUP, precision),
                key -> new Scale(groups.quantization(root, precision), groups.isFixed(root, precision)));
    }

    /** Lets a scale grow until a condition holds, and earlier nodes still agree; it stays as it is if that does not help. */
    private void raise(Scale scale, BooleanSupplier condition) {
        if (scale.isFixed || condition.getAsBoolean()) {
            return;
        }
        int before = scale.steps;
        while (scale.steps < before + MOST_STEPS) {
            scale.steps++;
            if (condition.getAsBoolean() && scale.settled.stream().allMatch(this::agrees)) {
                return;
            }
        }
        scale.steps = before;
    }

    /** The quantization of a float value in an integer precision. */
    Quantization quantization(int id, Precision precision) {
        return group(id, precision).quantization();
    }

    Quantization operand(Node node, int operand) {
        return scale(node, operand).quantization();
    }

    private Quantization own(Arg operand, Precision precision) {
        return operand instanceof Constant constant
                ? ScaleGroups.quantization(precision, ValueRange.of(ScaleGroups.floats(constant)))
                : groups.quantization(((Arg.Ref) operand).id(), precision);
    }

    /**
     * Whether the reference kernel's fixed point represents the scales; with others the operator stays float.
     *
     * @param scales of the operands, then of the output
     */
    private static boolean areScalesKept(Node node, Precision precision, List<Float> scales) {
        if (node.op() instanceof Unary unary
                && (unary.kind() == Unary.Kind.SIGMOID || unary.kind() == Unary.Kind.TANH)) {
            return scales.get(0) >= LEAST_OF_FUNCTION && scales.get(0) < MOST_OF_FUNCTION;
        }
        if (node.op() instanceof Softmax softmax) {
            return isSoftmax(softmax, node, precision, scales.get(0));
        }
        if (node.layer().isPresent() && precision == Precision.INT16) {
            float most = ValueRange.of(ScaleGroups.floats(node.weights())).magnitude();
            return (double) most * scales.get(0) / scales.get(1) < MOST_OF_LAYER;
        }
        if (node.op() instanceof Lstm) {
            return ofOutput(node, precision, scales);
        }
        return !(node.op() instanceof Binary binary) || isBinary(binary, precision, scales);
    }

    private static boolean isSoftmax(Softmax softmax, Node node, Precision precision, float scale) {
        int row = node.type().shape().dim(-1);
        try {
            if (precision == Precision.INT16) {
                TflInt16Softmax.multiplier(softmax.beta(), scale);
                return row <= TflInt16Softmax.MAX_ROW;
            }
            TflSoftmaxTables.exponentials(softmax.beta(), scale);
            return row <= TflSoftmaxTables.MAX_ROW;
        } catch (IllegalArgumentException beyondFixedPoint) {
            return false;
        }
    }

    private static boolean isBinary(Binary binary, Precision precision, List<Float> scales) {
        float lhs = scales.get(0);
        float rhs = scales.get(1);
        float out = scales.get(2);
        return switch (binary.kind()) {
            case ADD ->
                TflAddParameters.of(precision.activation(), lhs, rhs, out).isBelowOne();
            case SUBTRACT ->
                TflBinaryScales.areDefined(
                        new QnnBinary(QnnBinary.Kind.SUBTRACT), precision.activation(), lhs, rhs, out);
            case SQUARED_DIFFERENCE ->
                // TensorFlow Lite's library ends the process if the multiplier of the squares is 1 or more.
                TflBinaryScales.areDefined(
                                new QnnBinary(QnnBinary.Kind.SQUARED_DIFFERENCE), precision.activation(), lhs, rhs, out)
                        && TflAddParameters.ofSquaredDifference(precision.activation(), lhs, rhs, out)
                                .isBelowOne();
            default -> true;
        };
    }

    /**
     * Whether functions of int8 have the same 256 answers in TensorFlow Lite's library, which computes them in single precision (LUTPopulate in
     * kernels/internal/common.h), and in TensorFlow Lite Micro, which computes LOGISTIC and TANH in fixed point and ELU with another formula. They may only
     * differ where a result lies next to the middle of two integers.
     */
    private static boolean tablesAgree(Unary.Kind kind, Quantization in, Quantization out) {
        return switch (kind) {
            case SIGMOID -> tableAgrees(TflActivations.logistic(in), kind, in, out);
            case TANH -> tableAgrees(TflActivations.tanh(in), kind, in, out);
            case ELU -> tableAgrees(TflActivations.elu(in, out), kind, in, out);
            default -> true;
        };
    }

    private static boolean tableAgrees(int[] table, Unary.Kind kind, Quantization in, Quantization out) {
        for (int i = 0; i < table.length; i++) {
            double x = (double) in.scale() * (i + Byte.MIN_VALUE - in.zeroPoint());
            double steps = function(kind, x) / out.scale();
            double fraction = Math.abs(steps - Math.rint(steps));
            double nearest = Math.max(Byte.MIN_VALUE, Math.min(Byte.MAX_VALUE, Math.rint(steps) + out.zeroPoint()));
            if (0.5 - fraction < MARGIN || nearest != table[i]) {
                return false;
            }
        }
        return true;
    }

    private static double function(Unary.Kind kind, double x) {
        return switch (kind) {
            case SIGMOID -> 1 / (1 + StrictMath.exp(-x));
            case TANH -> StrictMath.tanh(x);
            default -> x < 0 ? StrictMath.expm1(x) : x;
        };
    }

    /** Whether scales decide if both compute the same for a node. */
    private static boolean isNeeded(Node node, Precision precision) {
        return node.op() instanceof Lstm
                || (node.op() instanceof Unary && precision == Precision.INT8)
                || (node.op() instanceof Binary binary
                        && switch (binary.kind()) {
                            case ADD, SUBTRACT, MULTIPLY, PRELU -> true;
                            default -> false;
                        });
    }

    /**
     * Whether the multipliers of the operands alone agree.
     *
     * @param scales of the operands, then of the output
     */
    private static boolean ofOperands(Node node, Precision precision, List<Float> scales) {
        return !(node.op() instanceof Binary binary && binary.kind() == Binary.Kind.SUBTRACT)
                || haveSameOperands(inSingle(precision, scales), inDouble(precision, scales));
    }

    /**
     * Whether the multipliers of the output agree.
     *
     * @param scales of the operands, then of the output
     */
    private static boolean ofOutput(Node node, Precision precision, List<Float> scales) {
        if (node.op() instanceof Lstm) {
            return ofQuotient(GATE_PRODUCT, 1, scales.get(1));
        }
        if (!(node.op() instanceof Binary binary)) {
            return true;
        }
        return switch (binary.kind()) {
            case MULTIPLY -> ofQuotient(scales.get(0), scales.get(1), scales.get(2));
            case PRELU ->
                ofQuotient(scales.get(0), 1, scales.get(2)) && ofQuotient(scales.get(0), scales.get(1), scales.get(2));
            case ADD -> !areShifts(precision, scales);
            case SUBTRACT ->
                !areShifts(precision, scales)
                        && inSingle(precision, scales)
                                .output()
                                .equals(inDouble(precision, scales).output());
            default -> true;
        };
    }

    private static boolean ofQuotient(float lhs, float rhs, float output) {
        return QuantizedMultiplier.of((double) lhs * rhs / output).equals(QuantizedMultiplier.of(lhs * rhs / output));
    }

    private static boolean haveSameOperands(TflAddParameters single, TflAddParameters exact) {
        return single.lhs().equals(exact.lhs()) && single.rhs().equals(exact.rhs());
    }

    private static TflAddParameters inSingle(Precision precision, List<Float> scales) {
        return TflAddParameters.ofDifference(precision.activation(), scales.get(0), scales.get(1), scales.get(2));
    }

    private static TflAddParameters inDouble(Precision precision, List<Float> scales) {
        return TflAddParameters.of(precision.activation(), scales.get(0), scales.get(1), scales.get(2));
    }

    private static boolean areShifts(Precision precision, List<Float> scales) {
        return precision == Precision.INT16 && TflPowerScales.areAll(scales);
    }
}
