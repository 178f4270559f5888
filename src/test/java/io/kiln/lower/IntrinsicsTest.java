// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.arith.DetectionBoxes;
import io.kiln.ir.arith.DynamicRange;
import io.kiln.ir.arith.FloatPrecision;
import io.kiln.ir.arith.InverseSquareRoot;
import io.kiln.ir.arith.RealRescaling.RealScale;
import io.kiln.ir.arith.TflNormalization;
import io.kiln.ir.arith.TflSoftmaxTables;
import io.kiln.lower.element.ElementIntrinsics;
import io.kiln.lower.layer.DetectionLowering.DetectedBoxes;
import io.kiln.lower.layer.NormalizeLowering.NormalizeIntrinsics;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The C definitions of the intrinsics against the one definition in Java, compiled and run on this machine. */
class IntrinsicsTest {
    private static final int CASES = 400;

    private final StringBuilder main = new StringBuilder();

    private void expect(String call, int expected) {
        main.append("  if (")
                .append(call)
                .append(" != ")
                .append(literal(expected))
                .append(") {\n");
        main.append("    puts(\"")
                .append(call)
                .append(" is not ")
                .append(expected)
                .append("\");\n    ++failures;\n  }\n");
    }

    private static String literal(int value) {
        return value == Integer.MIN_VALUE ? "INT32_MIN" : Integer.toString(value);
    }

    private void rescale(int value, QuantizedMultiplier by) {
        int expected = FixedPoint.multiplyByQuantizedMultiplier(value, by.multiplier(), by.shift());
        String arguments = "(" + literal(value) + ", " + by.multiplier() + ", ";
        expect("kiln_rescale_any" + arguments + by.shift() + ")", expected);
        if (Epilogue.isFast(by, Math.abs((long) value))) {
            expect("kiln_rescale" + arguments + -by.shift() + ")", expected);
        }
    }

    private void rescaleNarrow(int value, int multiplier, int shift) {
        expect(
                "kiln_rescale_narrow(" + literal(value) + ", " + FixedPoint.reducedMultiplier(multiplier) + ", "
                        + (-1 - shift) + ")",
                FixedPoint.multiplyByQuantizedMultiplier((long) value, multiplier, shift));
    }

    /** Where the shift fits in the multiplier: from 16 to 32 bits. */
    private void rescaleHigh(int value, int multiplier, int shift) {
        int right = 15 - shift;
        if (right >= 16 && right <= 32) {
            int high = FixedPoint.reducedMultiplier(multiplier) << (32 - right);
            expect(
                    "kiln_rescale_high(" + literal(value) + ", " + high + ")",
                    FixedPoint.multiplyByQuantizedMultiplier((long) value, multiplier, shift));
        }
    }

    private void rescaleOnce(int value, int multiplier, int shift) {
        String arguments = "(" + literal(value) + ", " + multiplier + ", " + (31 - shift) + ")";
        long upward = FixedPoint.multiplyRoundingUpward(value, multiplier, shift);
        long away = FixedPoint.multiplyRoundingAway(value, multiplier, shift);
        expect("kiln_rescale_upward" + arguments, FixedPoint.clamp(upward, -(1 << 30), 1 << 30));
        int significant = multiplier & ~127;
        long single = FixedPoint.multiplyInSinglePrecision(value, significant, shift);
        expect(
                "kiln_rescale_single(" + literal(value) + ", " + significant + ", " + (31 - shift) + ")",
                FixedPoint.clamp(single, -(1 << 30), 1 << 30));
        expect("kiln_rescale_to_nearest" + arguments, FixedPoint.clamp(away, -(1 << 30), 1 << 30));
    }

    @Test
    void theirCIsWhatJavaComputes(@TempDir Path folder) {
        Random random = new Random(5);
        for (int i = 0; i < CASES; i++) {
            int value = random.nextInt() >> random.nextInt(31);
            rescale(value, QuantizedMultiplier.of(Math.scalb(0.5 + random.nextDouble() / 2, random.nextInt(40) - 30)));
            rescaleOnce(value, random.nextInt(1 << 30) + (1 << 30), random.nextInt(62) - 31);
            rescaleNarrow(value, random.nextInt(1 << 30) + (1 << 30), -2 - random.nextInt(30));
            rescaleHigh(value, random.nextInt(1 << 30) + (1 << 30), -2 - random.nextInt(30));
            rescaleOnce(value, 1 << 30, random.nextInt(62) - 31);
            expectIntrinsics(random, value);
        }
        assertThat(CheckedProgram.run(folder, source())).isEmpty();
    }

    private void rescaleReal(long value, double slope) {
        RealScale by = new RealScale(FloatPrecision.DOUBLE, slope, 0);
        expect("kiln_rescale_real(INT64_C(" + value + "), INT64_C(" + by.multiplier() + "), " + by.shift() + ")", (int)
                by.rescale(value));
    }

    /** Sums of any size; slopes whose product lies near a half, so that the product's rounding decides. */
    private void expectRealRescaling(Random random, int value) {
        double slope = Math.scalb(1 + random.nextDouble(), random.nextInt(60) - 50);
        rescaleReal(value, slope);
        long wide = random.nextLong() >> (12 + random.nextInt(40));
        rescaleReal(wide, slope);
        rescaleReal(0, slope);
        double half = random.nextInt(1 << random.nextInt(20)) + 0.5;
        double nearest = half / Math.max(1, Math.abs(wide));
        rescaleReal(wide, nearest);
        rescaleReal(-wide, Math.nextDown(nearest));
        rescaleReal(wide, Math.nextUp(nearest));
        rescaleReal(value, Math.scalb(1.0, random.nextInt(40) - 30));
    }

    private void expectQuantization(float a, float b) {
        float least = Math.min(a, b);
        float most = Math.max(a, b);
        DynamicRange range = DynamicRange.of(least, most);
        String arguments = "(" + least + "f, " + most + "f)";
        expect("bits(kiln_quantization_scale" + arguments + ")", Float.floatToRawIntBits(range.scale()));
        expect("(int32_t)kiln_quantization_zero_point" + arguments, range.zeroPoint());
    }

    private void expectIntrinsics(Random random, int value) {
        expectRealRescaling(random, value);
        float spread = (float) Math.exp(random.nextGaussian() * 5);
        expectQuantization((float) random.nextGaussian() * spread, (float) random.nextGaussian());
        expectQuantization(random.nextInt(3) - 1, random.nextInt(256) / 2f);
        expectQuantization(-random.nextFloat() * Float.MIN_NORMAL, random.nextFloat() * 1e-36f);
        expectQuantization(-random.nextFloat() * 1e-9f, random.nextFloat());
        expectQuantization(-Float.MAX_VALUE * random.nextFloat(), Float.MAX_VALUE * random.nextInt(2));
        expectQuantization(-random.nextInt(256) / 2f, random.nextInt(2));
        int other = random.nextInt();
        expect(
                "kiln_high_mul(" + literal(value) + ", " + literal(other) + ")",
                FixedPoint.saturatingRoundingDoublingHighMul(value, other));
        int sum = Math.max(1 << 19, value & Integer.MAX_VALUE);
        expect("kiln_logarithm(" + sum + ")", TflNormalization.logarithm(sum));
        int squares = value & Integer.MAX_VALUE;
        int exponent = InverseSquareRoot.exponent(squares);
        expect("kiln_root_exponent(" + squares + ")", exponent);
        expect("kiln_inverse_root(" + squares + ", " + exponent + ")", InverseSquareRoot.root(squares));
        expect("kiln_leading_zeros(" + sum + ")", Integer.numberOfLeadingZeros(sum));
        int normalised = (sum << Integer.numberOfLeadingZeros(sum)) - Integer.MIN_VALUE;
        expect("kiln_reciprocal(" + literal(normalised) + ")", TflSoftmaxTables.reciprocal(sum));
        float real = (float) (random.nextGaussian() * random.nextInt(80));
        expect("bits(kiln_exp(" + real + "f))", Float.floatToRawIntBits(DetectionBoxes.exp(real)));
        expect("kiln_clamp(" + literal(value) + ", -128, 127)", FixedPoint.clamp(value, -128, 127));
        expect("kiln_saturate_8(" + literal(value) + ")", FixedPoint.clamp(value, -128, 127));
        expect("kiln_saturate_8(" + literal(other >> 23) + ")", FixedPoint.clamp(other >> 23, -128, 127));
    }

    private String source() {
        return "#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n"
                + DetectedBoxes.EXP.definition()
                + "static int32_t bits(float x) {\n  int32_t y;\n  memcpy(&y, &x, 4);\n  return y;\n}\n"
                + Intrinsics.CLAMP.definition() + Intrinsics.SATURATE_8.definition() + Intrinsics.HIGH_MUL.definition()
                + Intrinsics.RESCALE.definition()
                + Intrinsics.RESCALE_NARROW.definition()
                + Intrinsics.RESCALE_HIGH.definition()
                + Intrinsics.RESCALE_ANY.definition() + Intrinsics.LEADING_ZEROS.definition()
                + Intrinsics.RECIPROCAL.definition() + Intrinsics.RESCALE_UPWARD.definition()
                + Intrinsics.RESCALE_TO_NEAREST.definition()
                + Intrinsics.RESCALE_REAL.definition()
                + ElementIntrinsics.REAL.definition()
                + ElementIntrinsics.QUANTIZATION_SCALE.definition()
                + ElementIntrinsics.QUANTIZATION_ZERO_POINT.definition()
                + Intrinsics.ROUND_EVEN.definition() + Intrinsics.RESCALE_SINGLE.definition()
                + NormalizeIntrinsics.LOGARITHM.definition() + NormalizeIntrinsics.ROOT_EXPONENT.definition()
                + NormalizeIntrinsics.INVERSE_ROOT.definition()
                + "int main(void) {\n  int failures = 0;\n" + main + "  return failures != 0;\n}\n";
    }

    @Test
    void theFastRescalingIsRefusedWhereItCouldOverflow() {
        assertThat(Epilogue.isFast(new QuantizedMultiplier(Integer.MAX_VALUE, -31), 1L << 30))
                .isFalse();
        assertThat(Epilogue.isFast(new QuantizedMultiplier(1 << 30, 0), 1)).isFalse();
        assertThat(Epilogue.isFast(new QuantizedMultiplier(1 << 30, -1), 1L << 31))
                .isFalse();
        assertThat(Epilogue.isFast(new QuantizedMultiplier(1 << 30, -8), 1L << 20))
                .isTrue();
    }
}
