// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.ir.arith.OnnxSoftmaxArithmetic;
import io.kiln.lower.CheckedProgram;
import io.kiln.tir.Intrinsic;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Single precision in integers against Java's floats, bit for bit. */
class SingleIntrinsicsTest {
    private static final int CASES = 4000;

    private final StringBuilder rows = new StringBuilder();

    /** A row: which function, its arguments, its result. */
    private void row(int function, long a, long b, int expected) {
        rows.append("  {")
                .append(function)
                .append(", UINT64_C(")
                .append(a)
                .append("), ")
                .append(b)
                .append(", ")
                .append(Integer.toUnsignedString(expected))
                .append("u},\n");
    }

    /** The bits of a float; what is too small for a normal float counts as 0. */
    private static int bits(float value) {
        return value < Float.MIN_NORMAL ? 0 : Float.floatToIntBits(value);
    }

    private void exponential(long distance, int exponent) {
        row(0, distance, exponent, bits(OnnxSoftmaxArithmetic.exponential(-Math.scalb((float) distance, exponent))));
    }

    /** A float of any size whose last bits are often 0, so that sums and products are often exactly at a half. */
    private static float real(Random random, int exponents) {
        int fraction = random.nextInt(1 << 23) & -(1 << random.nextInt(20));
        return Float.intBitsToFloat(((127 - random.nextInt(exponents)) << 23) | fraction);
    }

    @Test
    void exponentialsSumsAndProductsAreThoseOfFloats(@TempDir Path folder) {
        Random random = new Random(3);
        for (int i = 0; i < CASES; i++) {
            long mantissa = 1L << 23 | random.nextInt(1 << 23);
            exponential(mantissa << random.nextInt(12), -45 + random.nextInt(30));
            // Multiples of a scale, as softmax has them, and numbers near those where the polynomial's argument is
            // about 0.
            exponential((long) (float) (mantissa * (1 + random.nextInt(255))), -36 + random.nextInt(12));
            float nearest = (float) (random.nextInt(100) * Math.log(2) * (1 + random.nextGaussian() * 1e-3));
            exponential((long) Math.scalb(Math.max(0, nearest), 30), -30);
            float a = real(random, 60);
            float b = real(random, i % 2 == 0 ? 60 : 4);
            row(1, Float.floatToIntBits(a), Float.floatToIntBits(b), bits(a + b));
            row(2, Float.floatToIntBits(a), Float.floatToIntBits(b), bits(a * b));
        }
        exponential(0, -20);
        exponential(1L << 27, -20);
        row(1, Float.floatToIntBits(3f), 0, Float.floatToIntBits(3f));
        row(2, Float.floatToIntBits(3f), 0, 0);
        assertThat(CheckedProgram.run(folder, source())).isEmpty();
    }

    private String source() {
        Set<Intrinsic> used = new LinkedHashSet<>();
        for (Intrinsic each :
                new Intrinsic[] {SingleIntrinsics.EXPONENTIAL, SingleIntrinsics.ADD, SingleIntrinsics.MULTIPLY}) {
            used.addAll(each.uses());
            used.add(each);
        }
        StringBuilder source = new StringBuilder("#include <stdint.h>\n#include <stdio.h>\n");
        used.stream()
                .sorted(Comparator.comparingInt(each -> each.uses().size()))
                .forEach(each -> source.append(each.definition()));
        return source.append(
                        "static const struct {\n  int f;\n  uint64_t a;\n  int64_t b;\n  uint32_t expected;\n} rows[] = {\n")
                .append(rows)
                .append("};\nint main(void) {\n  for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; ++i) {\n")
                .append("    const uint32_t a = (uint32_t)rows[i].a;\n    const uint32_t b = (uint32_t)rows[i].b;\n")
                .append("    const uint32_t is = rows[i].f == 0 ? kiln_single_exp(rows[i].a, (int32_t)rows[i].b)\n")
                .append("        : rows[i].f == 1 ? kiln_single_add(a, b) : kiln_single_multiply(a, b);\n")
                .append("    if (is != rows[i].expected) {\n")
                .append("      printf(\"%d: %llx %llx is %x, not %x\\n\", rows[i].f, (unsigned long long)rows[i].a,\n")
                .append("          (unsigned long long)rows[i].b, is, rows[i].expected);\n    }\n  }\n  return 0;\n}\n")
                .toString();
    }
}
