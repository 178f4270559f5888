// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.element;

import io.kiln.lower.element.ShortSum;
import io.kiln.schedule.parts.AsmText;
import java.util.List;
import java.util.Locale;

/**
 * Lines of the kernels for {@link ShortSum} on RV32IM, for two elements at a time, the product of one being made while the other one waits for
 * its own. Both roundings of the reference are one: MULHSU by the doubled multiplier keeps the bit that the first one looks at,
 * {@code h = (g + 1) >> 1}, so that {@code (h + half - (h < 0)) >> shift} is {@code (g + 1 + 2 * half - 2 * (g < 0)) >> (shift + 1)}. A result
 * beyond the limits leaves the loop, is stored again and comes back.
 *
 * <pre>
 *   x0, x1           elements, twice their sums, results     s0, s1   products, distance from the lower limit
 *   step, out_step   what is added before the shifts         low      the lower limit, negated
 *   span             upper limit less the lower one
 * </pre>
 */
final class RiscVShorts {
    static final int PAIR = 2;

    private RiscVShorts() {}

    static String x(int i) {
        return "%[x" + i % PAIR + "]";
    }

    static String y(int i) {
        return "%[y" + i % PAIR + "]";
    }

    private static String s(int i) {
        return "%[s" + i % PAIR + "]";
    }

    /** The product of a value by a doubled multiplier. */
    static void product(AsmText text, int i, String value, String by) {
        text.line("mulhsu %s, %s, %s", s(i), value, by);
    }

    /** Makes of a value what is added to its product. */
    static void sign(AsmText text, String value, String step) {
        text.line("srai %s, %s, 31", value, value);
        text.line("slli %s, %s, 1", value, value);
        text.line("add %s, %s, %s", value, value, step);
    }

    /** What is added, plus the product, shifted. */
    static void rounded(AsmText text, int i, String value, int shift) {
        text.line("add %s, %s, %s", value, value, s(i));
        text.line("srai %s, %s, %d", value, value, shift + 1);
    }

    /** The sum of the exact side and the other one. */
    static void sum(AsmText text, ShortSum sum, int i, String other) {
        if (sum.subtractsExact()) {
            text.line("sub %s, %s, %s", x(i), other, x(i));
        } else {
            text.line("%s %s, %s, %s", sum.subtractsOther() ? "sub" : "add", x(i), x(i), other);
        }
    }

    static void store(AsmText text, int i, int place) {
        text.line("sh %s, %d(%[out])", x(i), place);
        text.line("add %s, %s, %[low]", s(i), x(i));
    }

    static void check(AsmText text, int i) {
        text.line("bltu %s, %s, 1%df", "%[span]", s(i), i);
        text.line("2%d:", i);
    }

    /** The limit on the side of the result. */
    static void limit(AsmText text, int i, int place) {
        text.line("1%d:", i);
        text.line("srai %s, %s, 31", s(i), s(i));
        text.line("not %s, %s", s(i), s(i));
        text.line("and %s, %s, %[span]", s(i), s(i));
        text.line("sub %s, %s, %[low]", s(i), s(i));
        text.line("sh %s, %d(%[out])", s(i), place);
        text.line("j 2%db", i);
    }

    /**
     * The C text.
     *
     * @param declared C statements before the assembly
     * @param names of registers without letters for elements
     * @param changed operands that change
     * @param constant operands that do not
     */
    static String statement(AsmText text, String declared, List<String> names, String changed, String constant) {
        StringBuilder declarations = new StringBuilder(declared);
        StringBuilder outputs = new StringBuilder(changed);
        for (int i = 0; i < PAIR; i++) {
            for (String name : names) {
                declarations.append("  int32_t ").append(name).append(i).append(";\n");
                outputs.append(String.format(Locale.ROOT, ", [%s%d] \"=&r\"(%s%d)", name, i, name, i));
            }
        }
        return declarations
                + "  __asm__ volatile(\n"
                + text.lines()
                + "      : "
                + outputs
                + "\n      : "
                + constant
                + ",\n"
                + "        [out_by] \"r\"((uint32_t)out_by << 1), [low] \"r\"(-low), [span] \"r\"(high - low)\n"
                + "      : \"memory\");\n";
    }

    /** What is added before a shift. */
    static int step(int shift) {
        return 1 + (1 << shift);
    }
}
