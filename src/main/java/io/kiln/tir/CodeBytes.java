// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The bytes of code of a micro-kernel, counted in its text: of Thumb assembly the bytes that an assembler makes of it, or a few more, because an
 * instruction that is not surely narrow counts as wide; of C four bytes for each statement, which takes about one instruction in kernels.
 */
public final class CodeBytes {
    private static final Pattern NARROW_MEMORY = Pattern.compile("(ldr|str) r[0-7], \\[(r[0-7]|sp)(?:, #(.+))?\\]");
    private static final Pattern NARROW_FLAGS =
            Pattern.compile("(movs|adds|subs|cmp) r[0-7], (?:r[0-7], )?#(\\d+)|(?:adds|subs) r[0-7], r[0-7], r[0-7]");
    private static final Pattern NARROW_REGISTERS = Pattern.compile(
            "(?:mov|cmp) \\w+, (?:r\\d+|lr|sp)|add (\\w+), (?:\\1, )?(?:r\\d+|lr)|(?:add|sub) sp, #\\d+");
    private static final Pattern NARROW_LIST =
            Pattern.compile("(?:push|pop) \\{r[0-7](?:[-,] ?r[0-7])*(?:, (?:lr|pc))?\\}");
    private static final String AT = ".Lkiln_at";
    private static final String SET = ".set " + AT + ", ";
    private static final String END = ".endr";
    private static final String REPEAT = ".rept ";
    private static final int WIDE = 4;
    private static final int NARROW = 2;

    private CodeBytes() {}

    /** At least the bytes of the largest kernel that statements call; 0 if they call none. */
    public static int ofLargestKernel(Stmt body) {
        if (body instanceof Stmt.Block block) {
            return largest(block.statements());
        } else if (body instanceof Stmt.For loop) {
            return ofLargestKernel(loop.body());
        } else if (body instanceof Stmt.While loop) {
            return ofLargestKernel(loop.body());
        } else if (body instanceof Stmt.If branch) {
            return Math.max(
                    ofLargestKernel(branch.then()),
                    branch.otherwise().map(CodeBytes::ofLargestKernel).orElse(0));
        } else if (body instanceof Stmt.Switch choice) {
            return largest(choice.cases());
        }
        return body instanceof Stmt.CallKernel call ? of(call.kernel()) : 0;
    }

    private static int largest(List<Stmt> statements) {
        return statements.stream().mapToInt(CodeBytes::ofLargestKernel).max().orElse(0);
    }

    /** At least the bytes of a kernel's code for a Cortex-M; those of C about. */
    public static int of(Kernel kernel) {
        boolean isNaked = kernel.definition().contains("naked");
        return ofAssembly(kernel) + (isNaked ? 0 : statements(ownLines(kernel)));
    }

    /** At least the bytes of a kernel's assembly; 0 if it is C. */
    static int ofAssembly(Kernel kernel) {
        return assembly(ownLines(kernel).stream()
                .map(String::strip)
                .filter(CodeBytes::isAssembly)
                .map(CodeBytes::instruction)
                .toList());
    }

    /** Whether a line is a string of C: kernels have assembly in strings, and nothing else. */
    private static boolean isAssembly(String line) {
        return line.length() > 1 && line.startsWith("\"") && line.endsWith("\"");
    }

    private static String instruction(String line) {
        String text = line.substring(1, line.length() - 1);
        return withoutEnd(withoutEnd(text, "\\t"), "\\n").strip();
    }

    private static String withoutEnd(String text, String end) {
        return text.endsWith(end) ? text.substring(0, text.length() - end.length()) : text;
    }

    /** The lines without those of the twin in C. */
    private static List<String> ownLines(Kernel kernel) {
        String text = kernel.definition();
        int twin = text.indexOf("\n#else");
        return (twin < 0 ? text : text.substring(0, twin)).lines().toList();
    }

    private static int statements(List<String> lines) {
        return (int) lines.stream()
                        .filter(line -> !isAssembly(line.strip()))
                        .flatMapToInt(String::chars)
                        .filter(c -> c == ';')
                        .count()
                * WIDE;
    }

    /** The bytes of instructions, those in {@code .rept} as often as they are repeated. */
    static int assembly(List<String> lines) {
        int bytes = 0;
        long at = 0;
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).startsWith(REPEAT)) {
                int end = i + lines.subList(i, lines.size()).indexOf(END);
                int times = Integer.parseInt(lines.get(i).substring(REPEAT.length()));
                List<String> moving = new ArrayList<>();
                for (String line : lines.subList(i + 1, end)) {
                    if (line.contains(AT)) {
                        moving.add(line);
                    } else {
                        bytes += times * bytes(line, at);
                    }
                }
                for (int time = 0; time < times; time++) {
                    for (String line : moving) {
                        at = offset(line, at);
                        bytes += bytes(line, at);
                    }
                }
                i = end;
            } else {
                at = offset(lines.get(i), at);
                bytes += bytes(lines.get(i), at);
            }
        }
        return bytes;
    }

    /** The value of {@code .Lkiln_at} behind a line. */
    private static long offset(String line, long at) {
        return line.startsWith(SET) ? value(line.substring(SET.length()), at) : at;
    }

    private static int bytes(String line, long at) {
        return line.isEmpty() || line.startsWith(".") || line.endsWith(":") ? 0 : bytes(line.replace(AT, "" + at));
    }

    /** The value of sums, differences, products and quotients of numbers. */
    private static long value(String text, long at) {
        return new Sum(text.replace(AT, "" + at).replace(" ", "")).value();
    }

    /** Reads an expression from left to right. */
    private static final class Sum {
        private final String text;
        private int next;

        Sum(String text) {
            this.text = text;
        }

        long value() {
            long sum = product();
            while (next < text.length() && text.charAt(next) != ')') {
                boolean isMinus = text.charAt(next++) == '-';
                sum += isMinus ? -product() : product();
            }
            return sum;
        }

        private long product() {
            long product = factor();
            while (next < text.length() && (text.charAt(next) == '*' || text.charAt(next) == '/')) {
                boolean isQuotient = text.charAt(next++) == '/';
                product = isQuotient ? product / factor() : product * factor();
            }
            return product;
        }

        private long factor() {
            if (text.charAt(next) == '-') {
                next++;
                return -factor();
            }
            if (text.charAt(next) == '(') {
                next++;
                long value = value();
                next++;
                return value;
            }
            int begin = next;
            while (next < text.length() && Character.isDigit(text.charAt(next))) {
                next++;
            }
            return Long.parseLong(text.substring(begin, next));
        }
    }

    private static int bytes(String instruction) {
        int space = instruction.indexOf(' ');
        boolean isNarrow = switch (space < 0 ? instruction : instruction.substring(0, space)) {
            case "ldr", "str" -> isNarrowMemory(instruction);
            case "movs", "adds", "subs" -> isNarrowFlags(instruction);
            case "cmp" ->
                isNarrowFlags(instruction)
                        || NARROW_REGISTERS.matcher(instruction).matches();
            case "mov", "add", "sub" -> NARROW_REGISTERS.matcher(instruction).matches();
            case "push", "pop" -> NARROW_LIST.matcher(instruction).matches();
            default -> instruction.startsWith("it");
        };
        return isNarrow ? NARROW : WIDE;
    }

    private static boolean isNarrowMemory(String instruction) {
        Matcher memory = NARROW_MEMORY.matcher(instruction);
        if (!memory.matches()) {
            return false;
        }
        long offset = memory.group(3) == null ? 0 : value(memory.group(3), 0);
        return offset >= 0 && offset % WIDE == 0 && offset <= (memory.group(2).equals("sp") ? 1020 : 124);
    }

    private static boolean isNarrowFlags(String instruction) {
        Matcher flags = NARROW_FLAGS.matcher(instruction);
        return flags.matches()
                && (flags.group(2) == null
                        || Integer.parseInt(flags.group(2)) <= (instruction.matches("\\w+ \\w+, r.*") ? 7 : 255));
    }
}
