// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.element;

import io.kiln.lower.element.ShortSum;
import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import java.util.List;

/**
 * A channel of {@link ShortSum} on RV32IM, whose other side is one element; see {@link RiscVShorts}.
 *
 * @param sum what it computes
 * @param step elements from one to the next
 * @param block elements of an iteration, 1 or an even number that loads reach, of which the number of elements is a multiple
 */
record RiscVChannelSum(ShortSum sum, int step, int block) implements ShortSumKernel {
    private static final int REACH = 2047;

    /** The kernel for a block of at most this many elements, which divides their number. */
    static RiscVChannelSum of(ShortSum sum, int step, int block) {
        int reached = block;
        while (reached > 1 && Short.BYTES * step * reached > REACH) {
            reached /= 2;
        }
        return new RiscVChannelSum(sum, step, reached);
    }

    @Override
    public String schedule() {
        return "riscv_sum16_channel(shift=" + sum.outShift() + ", unroll=" + block + ")";
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
        text.line("add %[exact], %[exact], %[bytes]");
        text.line("add %[out], %[out], %[bytes]");
        text.line("bne %[out], %[end], 1b");
        text.line("j 4f");
        for (int i = 0; i < block; i++) {
            RiscVShorts.limit(text, i, place(i));
        }
        text.line("4:");
        return ShortSumKernel.ofChannel("kiln_riscv_sum16_x" + block, sum, step, AsmText.RV32_MUL, statement(text));
    }

    private int place(int i) {
        return Short.BYTES * step * i;
    }

    private void elements(AsmText text, int first, int end) {
        for (int i = first; i < end; i++) {
            text.line("lh %s, %d(%[exact])", RiscVShorts.x(i), place(i));
        }
        for (int i = first; i < end; i++) {
            text.line("slli %s, %s, %d", RiscVShorts.x(i), RiscVShorts.x(i), ShortSum.EXACT_SHIFT + 1);
        }
        for (int i = first; i < end; i++) {
            RiscVShorts.sum(text, sum, i, "%[twice]");
            RiscVShorts.product(text, i, RiscVShorts.x(i), "%[out_by]");
            RiscVShorts.sign(text, RiscVShorts.x(i), "%[out_step]");
        }
        for (int i = first; i < end; i++) {
            RiscVShorts.rounded(text, i, RiscVShorts.x(i), sum.outShift());
            RiscVShorts.store(text, i, place(i));
        }
        for (int i = first; i < end; i++) {
            RiscVShorts.check(text, i);
        }
    }

    private String statement(AsmText text) {
        return RiscVShorts.statement(
                text,
                "  const int16_t* const end = out + " + step + " * count;\n",
                List.of("x", "s"),
                "[exact] \"+r\"(exact), [out] \"+r\"(out)",
                "[end] \"r\"(end), [twice] \"r\"(right * 2), [bytes] \"r\"(" + place(block) + "), [out_step] \"r\"("
                        + RiscVShorts.step(sum.outShift()) + ")");
    }
}
