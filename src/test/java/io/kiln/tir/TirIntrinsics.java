// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.base.FixedPoint;
import io.kiln.ir.arith.InverseSquareRoot;
import io.kiln.ir.arith.TflNormalization;
import io.kiln.ir.arith.TflSoftmaxTables;
import java.util.List;

/** The helpers of generated C that {@link TirEvaluator} calls. Floats are their bits. */
final class TirIntrinsics {
    private TirIntrinsics() {}

    static long call(String name, List<Long> args) {
        int a = args.get(0).intValue();
        return switch (name) {
            case "kiln_clamp" -> FixedPoint.clamp(a, args.get(1), args.get(2));
            case "kiln_saturate_8" -> FixedPoint.clamp(a, -128, 127);
            case "kiln_multiply_add" -> bits(real(args.get(0)) + real(args.get(1)) * real(args.get(2)));
            case "kiln_saturate_16" -> FixedPoint.clamp(a, -32768, 32767);
            case "kiln_rescale_wide" -> (int) ((args.get(0) * args.get(1) + (1L << (args.get(2) - 1))) >> args.get(2));
            case "kiln_high_word" -> (a * args.get(1)) >> 32;
            case "kiln_high_mul" ->
                FixedPoint.saturatingRoundingDoublingHighMul(a, args.get(1).intValue());
            case "kiln_rescale" ->
                FixedPoint.multiplyByQuantizedMultiplier(
                        a, args.get(1).intValue(), -args.get(2).intValue());
            case "kiln_rescale_any" ->
                FixedPoint.multiplyByQuantizedMultiplier(
                        a, args.get(1).intValue(), args.get(2).intValue());
            case "kiln_rescale_upward" ->
                limited(FixedPoint.multiplyRoundingUpward(
                        a, args.get(1).intValue(), 31 - args.get(2).intValue()));
            case "kiln_rescale_to_nearest" ->
                limited(FixedPoint.multiplyRoundingAway(
                        a, args.get(1).intValue(), 31 - args.get(2).intValue()));
            case "kiln_rescale_single" ->
                limited(FixedPoint.multiplyInSinglePrecision(
                        a, args.get(1).intValue(), 31 - args.get(2).intValue()));
            case "kiln_rescale_floor" -> limited((a * args.get(1) + args.get(2)) >> args.get(3));
            case "kiln_add_64" -> args.get(0) + args.get(1);
            case "kiln_leading_zeros" -> Integer.numberOfLeadingZeros(a);
            case "kiln_reciprocal" -> TflSoftmaxTables.reciprocal(a - Integer.MIN_VALUE);
            case "kiln_logarithm" -> TflNormalization.logarithm(a);
            case "kiln_root_exponent" -> InverseSquareRoot.exponent(a);
            case "kiln_inverse_root" -> InverseSquareRoot.root(a);
            case "expf" -> bits((float) Math.exp(real(args.get(0))));
            case "kiln_power_of_two" -> args.get(0);
            case "kiln_round_small" -> bits((float) Math.rint(real(args.get(0))));
            case "roundf" -> bits((float) FixedPoint.roundHalfAway(real(args.get(0))));
            default -> throw new IllegalArgumentException("no intrinsic " + name);
        };
    }

    private static int limited(long value) {
        return FixedPoint.clamp(value, -(1 << 30), 1 << 30);
    }

    private static float real(long bits) {
        return Float.intBitsToFloat((int) bits);
    }

    private static long bits(float value) {
        return Float.floatToRawIntBits(value);
    }
}
