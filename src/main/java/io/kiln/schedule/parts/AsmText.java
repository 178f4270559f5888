// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/** Collects the lines of one inline assembly statement in GNU syntax, for GCC and Clang alike. */
public final class AsmText {
    /** Preprocessor condition of Armv7-M and later. */
    public static final String THUMB_2 = "defined(__thumb__) && __ARM_ARCH_ISA_THUMB >= 2";

    /** Preprocessor condition of Armv6-M and Armv8-M Baseline. */
    public static final String THUMB_1 = "defined(__thumb__) && __ARM_ARCH_ISA_THUMB == 1";

    /** Preprocessor condition of RV32IM. */
    public static final String RV32_MUL =
            "defined(__riscv_mul) && __riscv_xlen == 32 && !defined(__riscv_32e) && !defined(__riscv_e)";

    /** Largest immediate offset of a load or store of Thumb-2. */
    public static final int LOAD_REACH = 4095;

    private final StringBuilder lines = new StringBuilder();
    private String indent = "";

    /**
     * Appends an instruction, label or directive.
     *
     * @param format text in which {@code %d} and {@code %s} stand for the arguments in order, of which the last
     *     ones may be left over; there are no other conversions, because a kernel has hundreds of lines and {@link String#format} took a tenth of all lowering
     */
    public void line(String format, Object... arguments) {
        lines.append("      \"").append(indent);
        int copied = 0;
        int used = 0;
        for (int next = format.indexOf('%'); next >= 0 && used < arguments.length; next = format.indexOf('%', copied)) {
            lines.append(format, copied, next).append(arguments[used++]);
            copied = next + 2;
        }
        lines.append(format, copied, format.length()).append("\\n\"\n");
    }

    /** Appends instructions that load a non-negative number into a register, on Thumb-2. */
    public void move(String register, int value) {
        line("movw %s, #%d", register, value & 0xFFFF);
        if (value >>> 16 != 0) {
            line("movt %s, #%d", register, value >>> 16);
        }
    }

    /** Appends instructions that add a non-negative number to a register, on Thumb-2; the spare register may change. */
    public void add(String register, String to, int value, String spare) {
        if (value <= LOAD_REACH) {
            line("add %s, %s, #%d", register, to, value);
        } else {
            move(spare, value);
            line("add %s, %s, %s", register, to, spare);
        }
    }

    /** Appends lines that the assembler repeats. */
    public void repeat(int count, Runnable body) {
        if (count == 1) {
            body.run();
        } else if (count > 1) {
            line(".rept %d", count);
            indent = "  ";
            body.run();
            indent = "";
            line(".endr");
        }
    }

    /** An offset that grows from one repetition to the next, see {@link #repeatFrom}. */
    public static final String AT = ".Lkiln_at";

    /**
     * Appends lines that the assembler repeats, and in which {@link #AT} is an offset.
     *
     * @param from its first value
     * @param step by which it grows
     */
    public void repeatFrom(int from, int step, int count, Runnable body) {
        if (count > 0) {
            line(".set %s, %d", AT, from);
            repeat(count, () -> {
                body.run();
                if (count > 1) {
                    line(".set %s, %s + %d", AT, AT, step);
                }
            });
        }
    }

    /** The lines as C strings. */
    public String lines() {
        return lines.toString();
    }

    /** The register of an argument; r7 is not used, because it may be a frame pointer. */
    static String register(int argument) {
        return "r" + (argument < 7 ? argument : argument + 1);
    }

    /** Registers of all arguments except the advancing second one: those that a kernel keeps on the stack. */
    public static String kept(int arguments) {
        return String.join(
                ", ",
                IntStream.range(0, arguments)
                        .filter(i -> i != 1)
                        .mapToObj(AsmText::register)
                        .toList());
    }

    /**
     * The C text: arguments in r0 to r6, then r8, all of which the assembly may change.
     *
     * @param values C expressions of the arguments
     * @param types their types
     * @param clobbers registers changed beside those of the arguments
     */
    public String statement(List<String> values, List<String> types, List<String> clobbers) {
        StringBuilder out = new StringBuilder();
        StringBuilder operands = new StringBuilder();
        for (int i = 0; i < values.size(); i++) {
            String r = register(i);
            out.append(String.format(
                    Locale.ROOT, "  register %s %s __asm__(\"%s\") = %s;\n", types.get(i), r, r, values.get(i)));
            operands.append(i == 0 ? "" : ", ").append("\"+r\"(").append(r).append(')');
        }
        String clobbered = clobbers.stream()
                .filter(c -> IntStream.range(0, values.size())
                        .noneMatch(i -> register(i).equals(c)))
                .map(c -> "\"" + c + "\", ")
                .reduce("", String::concat);
        return out.append("  __asm__ volatile(\n")
                .append(lines)
                .append("      : ")
                .append(operands)
                .append("\n      :\n      : ")
                .append(clobbered)
                .append("\"cc\", \"memory\");\n")
                .toString();
    }
}
