// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the memories that a linker script and those that it includes define. Scripts are read leniently: {@link LinkerScript} is the fence. */
public final class ScriptRegions {
    private static final Pattern TOKEN =
            Pattern.compile("/\\*.*?(?:\\*/|\\z)|\"[^\"\\n]*\"|[A-Za-z0-9_.$]+|<<|>>|\\S", Pattern.DOTALL);

    /** With a zero in front, one linker reads an octal number, another one a decimal. */
    private static final Pattern NUMBER = Pattern.compile("(0[xX][0-9a-fA-F]{1,15}|0|[1-9][0-9]{0,17})([kKmM]?)");

    private static final Set<String> ORIGINS = Set.of("ORIGIN", "org", "o");
    private static final Set<String> LENGTHS = Set.of("LENGTH", "len", "l");
    private static final List<Set<String>> LEVELS =
            List.of(Set.of("|"), Set.of("&"), Set.of("<<", ">>"), Set.of("+", "-"), Set.of("*", "/", "%"));

    /** Deepest nesting of parentheses; linkers, too, give up at some depth. */
    private static final int DEEPEST = 50;

    private static final int MOST_SCRIPTS = 200;

    private final SortedMap<String, String> scripts;
    private final Set<String> read = new HashSet<>();
    private final Map<String, Long> symbols = new HashMap<>();
    private final Map<String, Region> regions = new HashMap<>();
    private final List<Region> found = new ArrayList<>();

    private String file = "";
    private List<String> tokens = List.of();
    private List<Integer> lines = List.of();
    private int at;

    private ScriptRegions(SortedMap<String, String> scripts) {
        this.scripts = scripts;
    }

    /**
     * A memory of a script.
     *
     * @param name its name there
     * @param base first address; empty if it is not a number that can be computed before linking
     * @param size bytes, likewise
     * @param file the script that defines it
     * @param line its line there
     */
    public record Region(String name, Optional<Long> base, Optional<Long> size, String file, int line) {}

    /**
     * The memories of a script, in their order.
     *
     * @param script its name
     * @param scripts all scripts that it may include, text by name
     */
    public static List<Region> of(String script, SortedMap<String, String> scripts) {
        ScriptRegions reader = new ScriptRegions(scripts);
        reader.read(script, reader::script);
        return List.copyOf(reader.found);
    }

    /**
     * The scripts that a linker reads for a script: itself, and those that it and they include.
     *
     * @param script its name
     * @param scripts all scripts that there are, text by name
     */
    public static Set<String> read(String script, SortedMap<String, String> scripts) {
        ScriptRegions reader = new ScriptRegions(scripts);
        reader.read(script, reader::script);
        return Set.copyOf(reader.read);
    }

    private void read(String script, Runnable content) {
        String text = scripts.get(script);
        // What is included a second time has no memories, or linking fails.
        if (text == null || read.size() > MOST_SCRIPTS || !read.add(script)) {
            return;
        }
        String outerFile = file;
        List<String> outerTokens = tokens;
        List<Integer> outerLines = lines;
        int outerAt = at;
        file = script;
        split(text);
        content.run();
        file = outerFile;
        tokens = outerTokens;
        lines = outerLines;
        at = outerAt;
    }

    private void split(String text) {
        tokens = new ArrayList<>();
        lines = new ArrayList<>();
        at = 0;
        int line = 1;
        int before = 0;
        Matcher matcher = TOKEN.matcher(text);
        while (matcher.find()) {
            line += (int) text.substring(before, matcher.start())
                    .chars()
                    .filter(c -> c == '\n')
                    .count();
            before = matcher.start();
            if (!matcher.group().startsWith("/*")) {
                tokens.add(matcher.group());
                lines.add(line);
            }
        }
    }

    private void script() {
        int depth = 0;
        while (at < tokens.size()) {
            String token = tokens.get(at++);
            if (token.equals("{")) {
                depth++;
            } else if (token.equals("}")) {
                depth--;
            } else if (token.equals("INCLUDE")) {
                include(this::script);
            } else if (depth == 0 && token.equals("MEMORY") && take("{")) {
                memories();
            } else if (depth == 0 && take("=")) {
                Optional<Long> value = expression(0, 0);
                symbols.remove(token);
                value.filter(number -> peek().equals(";")).ifPresent(number -> symbols.put(token, number));
            }
        }
    }

    private void include(Runnable content) {
        read(peek().replace("\"", ""), content);
        at++;
    }

    private void memories() {
        while (at < tokens.size() && !take("}")) {
            if (take("INCLUDE")) {
                include(this::memories);
            } else {
                memory();
            }
        }
    }

    private void memory() {
        String name = peek();
        int line = lines.get(at++);
        while (at < tokens.size() && !List.of(":", "}").contains(peek())) {
            at++;
        }
        if (take(":")) {
            Optional<Long> base = value(ORIGINS, Set.of(","));
            take(",");
            // An expression that cannot be computed ends with its line.
            Optional<Long> size = value(LENGTHS, Set.of("}"));
            Region region = new Region(name, base, size, file, line);
            regions.put(name, region);
            found.add(region);
        }
    }

    /** A value with its key; what cannot be computed is skipped up to one of these marks or the end of the line. */
    private Optional<Long> value(Set<String> keys, Set<String> ends) {
        int line = at < lines.size() ? lines.get(at) : 0;
        boolean isNamed = keys.contains(peek());
        at += isNamed ? 1 : 0;
        Optional<Long> value = isNamed && take("=") ? expression(0, 0) : Optional.empty();
        boolean isWhole = at >= tokens.size() || ends.contains(peek()) || lines.get(at) > line || isNext();
        while (!isWhole && at < tokens.size() && !ends.contains(peek()) && lines.get(at) == line) {
            at++;
        }
        return value.filter(number -> isWhole);
    }

    /** Whether the next memory begins on the same line. */
    private boolean isNext() {
        return at + 1 < tokens.size() && List.of(":", "(").contains(tokens.get(at + 1));
    }

    private Optional<Long> expression(int level, int depth) {
        if (level == LEVELS.size()) {
            return operand(depth);
        }
        Optional<Long> left = expression(level + 1, depth);
        while (left.isPresent() && LEVELS.get(level).contains(peek())) {
            String operator = tokens.get(at++);
            Optional<Long> right = expression(level + 1, depth);
            long first = left.get();
            left = right.flatMap(second -> apply(operator, first, second));
        }
        return left;
    }

    private static Optional<Long> apply(String operator, long left, long right) {
        return switch (operator) {
            case "|" -> Optional.of(left | right);
            case "&" -> Optional.of(left & right);
            case "<<" -> Optional.of(left << right);
            case ">>" -> Optional.of(left >> right);
            case "+" -> Optional.of(left + right);
            case "-" -> Optional.of(left - right);
            case "*" -> Optional.of(left * right);
            default -> right == 0 ? Optional.empty() : Optional.of(operator.equals("/") ? left / right : left % right);
        };
    }

    private Optional<Long> operand(int depth) {
        if (at >= tokens.size() || depth > DEEPEST) {
            return Optional.empty();
        }
        String token = tokens.get(at++);
        Matcher number = NUMBER.matcher(token);
        if (number.matches()) {
            int unit = "km".indexOf(number.group(2).toLowerCase(Locale.ROOT));
            return Optional.of(Long.decode(number.group(1)) << (number.group(2).isEmpty() ? 0 : 10 * (unit + 1)));
        }
        if (token.equals("(")) {
            Optional<Long> inner = expression(0, depth + 1);
            return inner.filter(value -> take(")"));
        }
        if ((ORIGINS.contains(token) || LENGTHS.contains(token)) && take("(")) {
            Region region = regions.get(peek());
            at++;
            boolean isOrigin = ORIGINS.contains(token);
            return Optional.ofNullable(region)
                    .flatMap(each -> isOrigin ? each.base() : each.size())
                    .filter(value -> take(")"));
        }
        return Optional.ofNullable(symbols.get(token));
    }

    private String peek() {
        return at < tokens.size() ? tokens.get(at) : "";
    }

    private boolean take(String token) {
        if (peek().equals(token)) {
            at++;
            return true;
        }
        return false;
    }
}
