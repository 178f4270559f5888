// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.element;

import io.kiln.lower.element.ProvenSlopes;
import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import java.util.List;
import java.util.Locale;

/**
 * Four elements at a time on RV32IM, the product of one being made while the others wait for their own. A result beyond 16 bits leaves the
 * loop, is stored again and comes back.
 *
 * <pre>
 *   x0 ...   elements, results     m0 ... multipliers, distance from -32768     s0 ... -1 below 0, offsets
 * </pre>
 *
 * @param slopes what it computes
 * @param block elements of an iteration, 1, 2 or a multiple of 4, of which the number of elements is a multiple
 */
record RiscVSlopes(ProvenSlopes slopes, int block) implements SlopesKernel {
    private static final int GROUP = 4;

    @Override
    public String schedule() {
        return "riscv_slopes(shift=" + slopes.shift() + ", unroll=" + block + ")";
    }

    @Override
    public Kernel kernel() {
        AsmText text = new AsmText();
        text.line("1:");
        for (int first = 0; first < block; first += GROUP) {
            elements(text, first, Math.min(block, first + GROUP));
        }
        for (String pointer : List.of("%[in]", "%[out]")) {
            text.line("addi %s, %s, %d", pointer, pointer, Short.BYTES * block);
        }
        text.line("bne %[out], %[end], 1b");
        if (!slopes.fits()) {
            text.line("j 4f");
            for (int i = 0; i < block; i++) {
                limit(text, i);
            }
            text.line("4:");
        }
        return SlopesKernel.of("kiln_riscv_slopes_x" + block, slopes, AsmText.RV32_MUL, statement(text));
    }

    private void elements(AsmText text, int first, int end) {
        for (int i = first; i < end; i++) {
            text.line("lh %s, %d(%[in])", x(i), Short.BYTES * i);
        }
        for (int i = first; i < end; i++) {
            text.line("srai %s, %s, 31", s(i), x(i));
            text.line("slli %s, %s, 16", x(i), x(i));
            text.line("and %s, %s, %[more_by]", m(i), s(i));
            text.line("add %s, %s, %[by]", m(i), m(i));
            text.line("mulh %s, %s, %s", x(i), m(i), x(i));
            if (!slopes.hasOneOffset()) {
                text.line("and %s, %s, %[more_offset]", s(i), s(i));
                text.line("add %s, %s, %[offset]", s(i), s(i));
            }
        }
        for (int i = first; i < end; i++) {
            text.line("add %s, %s, %s", x(i), x(i), slopes.hasOneOffset() ? "%[offset]" : s(i));
            text.line("srai %s, %s, %d", x(i), x(i), slopes.shift());
            text.line("sh %s, %d(%[out])", x(i), Short.BYTES * i);
            if (!slopes.fits()) {
                text.line("add %s, %s, %[half]", m(i), x(i));
            }
        }
        for (int i = first; i < end && !slopes.fits(); i++) {
            text.line("bltu %s, %s, 1%df", "%[span]", m(i), i);
            text.line("2%d:", i);
        }
    }

    /** The limit of the result's sign. */
    private static void limit(AsmText text, int i) {
        text.line("1%d:", i);
        text.line("srai %s, %s, 31", m(i), m(i));
        text.line("xor %s, %s, %[most]", m(i), m(i));
        text.line("sh %s, %d(%[out])", m(i), Short.BYTES * i);
        text.line("j 2%db", i);
    }

    private static String x(int i) {
        return "%[x" + i % GROUP + "]";
    }

    private static String m(int i) {
        return "%[m" + i % GROUP + "]";
    }

    private static String s(int i) {
        return "%[s" + i % GROUP + "]";
    }

    private String statement(AsmText text) {
        StringBuilder declared = new StringBuilder("  const int16_t* const end = out + count;\n");
        StringBuilder outputs = new StringBuilder();
        for (int i = 0; i < GROUP; i++) {
            for (String name : List.of("x" + i, "m" + i, "s" + i)) {
                declared.append("  int32_t ").append(name).append(";\n");
                outputs.append(String.format(Locale.ROOT, ", [%s] \"=&r\"(%s)", name, name));
            }
        }
        return (slopes.hasOneOffset() ? "  (void)more_offset;\n" : "")
                + declared
                + "  __asm__ volatile(\n"
                + text.lines()
                + "      : [in] \"+r\"(in), [out] \"+r\"(out)"
                + outputs
                + "\n      : [end] \"r\"(end), [by] \"r\"(by), [more_by] \"r\"(more_by), [offset] \"r\"(offset)"
                + (slopes.hasOneOffset() ? "" : ", [more_offset] \"r\"(more_offset)")
                + (slopes.fits() ? "" : ", [half] \"r\"(32768), [most] \"r\"(32767), [span] \"r\"(65535)")
                + "\n      : \"memory\");\n";
    }
}
