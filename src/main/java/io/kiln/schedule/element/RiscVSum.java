// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.element;

import io.kiln.base.DType;
import io.kiln.lower.element.ProvenSum;
import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import java.util.Locale;

/**
 * Elements one behind the other on RV32IM: while the multiplier is busy with an element, the one before it is shifted and stored, and one
 * behind it is loaded. A result beyond the limits leaves the loop, is stored again and comes back.
 *
 * <pre>
 *   x0 to x2, y0 to y2   both sides of every third element, their products, distance from the lower limit and result
 *   span                 upper limit less the lower one
 * </pre>
 *
 * @param sum what it computes
 * @param block elements of an iteration, of which the number of elements is a multiple
 */
record RiscVSum(ProvenSum sum, int block) implements SumKernel {
    /** Elements in registers. */
    private static final int DEPTH = 3;

    @Override
    public String schedule() {
        return "riscv_sum(shift=" + sum.shift() + ", unroll=" + block + ")";
    }

    @Override
    public String reason() {
        return "one multiplication for each side";
    }

    @Override
    public Kernel kernel() {
        AsmText text = new AsmText();
        text.line("1:");
        load(text, 0);
        load(text, 1);
        for (int i = 0; i < block; i++) {
            text.line("mul %s, %s, %[lhs_by]", x(i), x(i));
            result(text, i - 1);
            text.line("mul %s, %s, %[rhs_by]", y(i), y(i));
            text.line("add %s, %s, %[offset]", x(i), x(i));
            check(text, i - 1);
            load(text, i + 2);
        }
        advance(text, "lhs");
        advance(text, "rhs");
        result(text, block - 1);
        check(text, block - 1);
        advance(text, "out");
        text.line("bne %[out], %[end], 1b");
        text.line("j 4f");
        for (int i = 0; i < block; i++) {
            limit(text, i);
        }
        text.line("4:");
        return SumKernel.of(name(), sum, AsmText.RV32_MUL, statement(text));
    }

    private String name() {
        String name = "kiln_riscv_sum_" + sum.shift() + "_x" + block;
        long least = DType.INT8.min();
        return SumKernel.hasLimits(sum) ? name + "_from_" + (sum.low() - least) + "_to_" + (sum.high() - least) : name;
    }

    private void load(AsmText text, int i) {
        if (i < block) {
            text.line("lb %s, %d(%[lhs])", x(i), i);
            text.line("lb %s, %d(%[rhs])", y(i), i);
        }
    }

    private void result(AsmText text, int i) {
        if (i >= 0) {
            text.line("add %s, %s, %s", y(i), x(i), y(i));
            text.line("srai %s, %s, %d", y(i), y(i), sum.shift());
            text.line("addi %s, %s, %d", x(i), y(i), -sum.low());
            text.line("sb %s, %d(%[out])", y(i), i);
        }
    }

    private static void check(AsmText text, int i) {
        if (i >= 0) {
            text.line("bltu %s, %s, 1%df", "%[span]", x(i), i);
            text.line("2%d:", i);
        }
    }

    /** The limit on the side of the result. */
    private void limit(AsmText text, int i) {
        text.line("1%d:", i);
        text.line("srai %s, %s, 31", x(i), x(i));
        text.line("andi %s, %s, %d", x(i), x(i), sum.low() - sum.high());
        text.line("addi %s, %s, %d", x(i), x(i), sum.high());
        text.line("sb %s, %d(%[out])", x(i), i);
        text.line("j 2%db", i);
    }

    private void advance(AsmText text, String pointer) {
        text.line("addi %s, %s, %d", "%[" + pointer + "]", "%[" + pointer + "]", block);
    }

    private static String x(int i) {
        return "%[x" + i % DEPTH + "]";
    }

    private static String y(int i) {
        return "%[y" + i % DEPTH + "]";
    }

    private static String statement(AsmText text) {
        StringBuilder declared = new StringBuilder();
        StringBuilder outputs = new StringBuilder();
        for (int i = 0; i < DEPTH; i++) {
            declared.append(String.format(Locale.ROOT, "  int32_t x%d;\n  int32_t y%d;\n", i, i));
            outputs.append(String.format(Locale.ROOT, ", [x%d] \"=&r\"(x%d), [y%d] \"=&r\"(y%d)", i, i, i, i));
        }
        return declared
                + "  const int8_t* const end = out + count;\n"
                + "  __asm__ volatile(\n"
                + text.lines()
                + "      : [lhs] \"+r\"(lhs), [rhs] \"+r\"(rhs), [out] \"+r\"(out)"
                + outputs
                + "\n      : [end] \"r\"(end), [lhs_by] \"r\"(lhs_by), [rhs_by] \"r\"(rhs_by), [offset] \"r\"(offset),"
                + " [span] \"r\"(high - low)\n"
                + "      : \"memory\");\n";
    }
}
