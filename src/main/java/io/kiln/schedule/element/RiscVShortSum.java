// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.element;

import io.kiln.lower.element.ShortSum;
import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import java.util.List;

/**
 * {@link ShortSum} on RV32IM, see {@link RiscVShorts}. {@code y0} and {@code y1} are elements of the other side.
 *
 * @param sum what it computes
 * @param block elements of an iteration, 1 or an even number, of which the number of elements is a multiple
 */
record RiscVShortSum(ShortSum sum, int block) implements ShortSumKernel {
    @Override
    public String schedule() {
        return "riscv_sum16(shift=" + sum.outShift() + ", unroll=" + block + ")";
    }

    @Override
    public String reason() {
        return "one multiplication for both roundings";
    }

    @Override
    public Kernel kernel() {
        AsmText text = new AsmText();
        text.line("1:");
        for (int first = 0; first < block; first += RiscVShorts.PAIR) {
            elements(text, first, Math.min(block, first + RiscVShorts.PAIR));
        }
        for (String pointer : List.of("%[exact]", "%[other]", "%[out]")) {
            text.line("addi %s, %s, %d", pointer, pointer, Short.BYTES * block);
        }
        text.line("bne %[out], %[end], 1b");
        text.line("j 4f");
        for (int i = 0; i < block; i++) {
            RiscVShorts.limit(text, i, Short.BYTES * i);
        }
        text.line("4:");
        return ShortSumKernel.of("kiln_riscv_sum16_x" + block, sum, AsmText.RV32_MUL, statement(text));
    }

    private void elements(AsmText text, int first, int end) {
        for (int i = first; i < end; i++) {
            text.line("lh %s, %d(%[other])", RiscVShorts.y(i), Short.BYTES * i);
            text.line("lh %s, %d(%[exact])", RiscVShorts.x(i), Short.BYTES * i);
        }
        if (sum.shift() == 0) {
            exactSums(text, first, end);
        } else {
            sums(text, first, end);
        }
        for (int i = first; i < end; i++) {
            RiscVShorts.rounded(text, i, RiscVShorts.x(i), sum.outShift());
            RiscVShorts.store(text, i, Short.BYTES * i);
        }
        for (int i = first; i < end; i++) {
            RiscVShorts.check(text, i);
        }
    }

    private void exactSums(AsmText text, int first, int end) {
        for (int i = first; i < end; i++) {
            RiscVShorts.sum(text, sum, i, RiscVShorts.y(i));
            text.line("slli %s, %s, %d", RiscVShorts.x(i), RiscVShorts.x(i), ShortSum.EXACT_SHIFT + 1);
            RiscVShorts.product(text, i, RiscVShorts.x(i), "%[out_by]");
            RiscVShorts.sign(text, RiscVShorts.x(i), "%[out_step]");
        }
    }

    private void sums(AsmText text, int first, int end) {
        for (int i = first; i < end; i++) {
            text.line("slli %s, %s, 16", RiscVShorts.y(i), RiscVShorts.y(i));
        }
        for (int i = first; i < end; i++) {
            RiscVShorts.product(text, i, RiscVShorts.y(i), "%[by]");
            RiscVShorts.sign(text, RiscVShorts.y(i), "%[step]");
            text.line("slli %s, %s, %d", RiscVShorts.x(i), RiscVShorts.x(i), ShortSum.EXACT_SHIFT);
        }
        for (int i = first; i < end; i++) {
            RiscVShorts.rounded(text, i, RiscVShorts.y(i), sum.shift());
            RiscVShorts.sum(text, sum, i, RiscVShorts.y(i));
            text.line("slli %s, %s, 1", RiscVShorts.x(i), RiscVShorts.x(i));
            RiscVShorts.product(text, i, RiscVShorts.x(i), "%[out_by]");
            RiscVShorts.sign(text, RiscVShorts.x(i), "%[out_step]");
        }
    }

    private String statement(AsmText text) {
        return RiscVShorts.statement(
                text,
                "  const int16_t* const end = out + count;\n",
                List.of("x", "y", "s"),
                "[exact] \"+r\"(exact), [other] \"+r\"(other), [out] \"+r\"(out)",
                "[end] \"r\"(end), [by] \"r\"((uint32_t)by << 1), [step] \"r\"(" + RiscVShorts.step(sum.shift())
                        + "), [out_step] \"r\"(" + RiscVShorts.step(sum.outShift()) + ")");
    }
}
