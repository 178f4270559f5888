// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.arith.TflAddParameters;
import io.kiln.ir.arith.TflPowerScales;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.quantize.graph.Node;
import java.util.List;

/**
 * For which scales TensorFlow Lite's library and TensorFlow Lite Micro compute the same:
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
final class KernelAgreement {
    /** Scale of the product of two functions' results. */
    private static final float GATE_PRODUCT = 1f / (1 << 30);

    private KernelAgreement() {}

    /** Whether scales decide if both compute the same for a node. */
    static boolean isNeeded(Node node, Precision precision) {
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
    static boolean ofOperands(Node node, Precision precision, List<Float> scales) {
        return !(node.op() instanceof Binary binary && binary.kind() == Binary.Kind.SUBTRACT)
                || haveSameOperands(inSingle(precision, scales), inDouble(precision, scales));
    }

    /**
     * Whether the multipliers of the output agree.
     *
     * @param scales of the operands, then of the output
     */
    static boolean ofOutput(Node node, Precision precision, List<Float> scales) {
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
