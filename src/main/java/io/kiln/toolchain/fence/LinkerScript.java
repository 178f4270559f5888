// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import io.kiln.toolchain.fence.Refusals.Refusal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.regex.Pattern;

/**
 * Checks an untrusted linker script against a small grammar: memories, sections, symbols and assertions. Linkers do
 * more for a script: they read files that it names, also as the file of an input section, write others, search folders
 * and load plug-ins. None of that is in this grammar; the file of an input section is a pattern that begins with *,
 * which linkers match and never open.
 */
public final class LinkerScript {
    private static final Set<String> LAYOUT = Set.of("NOLOAD", "READONLY", "INFO", "COPY", "OVERLAY", "DSECT");
    private static final Set<String> DATA = Set.of("BYTE", "SHORT", "LONG", "QUAD", "SQUAD", "FILL");
    private static final Set<String> PROVIDES = Set.of("PROVIDE", "PROVIDE_HIDDEN", "HIDDEN");

    private static final Pattern NAME = Pattern.compile("[A-Za-z_.][A-Za-z0-9_.]*");
    /** Sections that make debuggers, linkers or loaders run or read something. */
    private static final Pattern ORDERS = Pattern.compile(
            "\\.(?:z?debug_gdb_scripts|gdb_.*|gnu_debug.*|gnu\\.lto.*|gnu\\.warning.*|interp|dynamic|deplibs)");

    /** Debug information; a script may place the compiler's, but not add any. */
    private static final Pattern DEBUG = Pattern.compile("\\.(?:z?debug|stab|ctf).*");

    private static final Pattern FORMAT = Pattern.compile("\"?elf32-little(?:arm|riscv)\"?");
    private static final Pattern TEXT = Pattern.compile("\"[^\"]*\"");
    private static final Pattern COMMAND = Pattern.compile("[A-Z][A-Z_]{2,}");

    private final ScriptTokens tokens;
    private final ScriptExpressions expressions;
    private final InputSections inputs;
    private final Set<String> scripts;
    private final List<ScriptTokens.Refused> refused = new ArrayList<>();

    private LinkerScript(ScriptTokens tokens, Set<String> scripts) {
        this.tokens = tokens;
        this.expressions = new ScriptExpressions(tokens);
        this.inputs = new InputSections(tokens);
        this.scripts = scripts;
    }

    /**
     * What is refused in a script: forbidden commands and included files, up to the first token outside the grammar;
     * the text after that could mean anything.
     *
     * @param file name of the script, for messages
     * @param scripts the scripts that it may include
     */
    public static List<Refusal> refusals(String file, String text, Set<String> scripts) {
        ScriptTokens tokens = new ScriptTokens(text);
        LinkerScript script = new LinkerScript(tokens, scripts);
        try {
            tokens.split();
            script.script();
        } catch (ScriptTokens.Refused e) {
            script.refused.add(e);
        }
        return script.refused.stream()
                .map(refused -> new Refusal(file, refused.line(), refused.what()))
                .toList();
    }

    /** The scripts that a script includes, as often as it names them. */
    static List<String> includes(String text) {
        ScriptTokens tokens = new ScriptTokens(text);
        List<String> names = new ArrayList<>();
        try {
            tokens.split();
        } catch (ScriptTokens.Refused e) {
            // Reported by the check of this script.
            return names;
        }
        while (!tokens.isAtEnd()) {
            if (tokens.take("INCLUDE")) {
                names.add(tokens.peek().replace("\"", ""));
            } else {
                tokens.skip();
            }
        }
        return names;
    }

    private void script() {
        while (!tokens.isAtEnd()) {
            if (tokens.take("MEMORY")) {
                memories();
            } else if (tokens.take("SECTIONS")) {
                tokens.expect("{");
                while (!tokens.take("}")) {
                    section();
                }
            } else if (tokens.take("REGION_ALIAS")) {
                tokens.expect("(");
                tokens.next(TEXT, "the alias in quotes");
                tokens.expect(",");
                tokens.next(NAME, "a memory");
                tokens.expect(")");
                tokens.take(";");
            } else if (tokens.take("OUTPUT_FORMAT")) {
                list(FORMAT, "elf32-littlearm or elf32-littleriscv");
            } else if (tokens.take("OUTPUT_ARCH")) {
                list(Pattern.compile("arm|riscv"), "arm or riscv");
            } else if (!common()) {
                command();
            }
        }
    }

    /** A command outside the grammar, with its arguments. */
    private void command() {
        ScriptTokens.Refused unknown = tokens.refused("the linker command " + tokens.peek());
        if (!COMMAND.matcher(tokens.peek()).matches() || !tokens.peekBehind().equals("(")) {
            throw unknown;
        }
        refused.add(unknown);
        while (!tokens.take(")")) {
            tokens.skip();
        }
    }

    /** Statements allowed at the top level, among sections and within one. */
    private boolean common() {
        if (tokens.take(";")) {
            return true;
        }
        if (tokens.take("INCLUDE")) {
            include();
        } else if (tokens.take("ENTRY") || tokens.take("EXTERN")) {
            list(NAME, "a symbol");
        } else if (tokens.take("ASSERT")) {
            tokens.expect("(");
            expressions.upTo(Set.of(","));
            tokens.expect(",");
            tokens.next(TEXT, "a message in quotes");
            tokens.expect(")");
            tokens.take(";");
        } else if (PROVIDES.contains(tokens.peek())) {
            tokens.skip();
            tokens.expect("(");
            expressions.assignment();
            tokens.expect(")");
            tokens.take(";");
        } else if (NAME.matcher(tokens.peek()).matches()
                && ScriptExpressions.ASSIGNMENTS.contains(tokens.peekBehind())) {
            expressions.assignment();
            tokens.expect(";");
        } else {
            return false;
        }
        return true;
    }

    private void include() {
        String file = tokens.peek().replace("\"", "");
        if (!scripts.contains(file) || !file.endsWith(".ld")) {
            refused.add(tokens.refused("INCLUDE of a file outside the profile's linker scripts"));
            tokens.skipLine();
            return;
        }
        tokens.skip();
    }

    private void list(Pattern pattern, String expected) {
        tokens.expect("(");
        while (!tokens.take(")")) {
            tokens.next(pattern, expected);
            tokens.take(",");
        }
        tokens.take(";");
    }

    private void memories() {
        tokens.expect("{");
        while (!tokens.take("}")) {
            if (tokens.take("INCLUDE")) {
                include();
                continue;
            }
            tokens.next(NAME, "a memory");
            if (tokens.take("(")) {
                while (!tokens.take(")")) {
                    tokens.next(Pattern.compile("!|[rwxailRWXAIL]{1,6}"), "attributes of a memory");
                }
            }
            tokens.expect(":");
            tokens.next(Pattern.compile("ORIGIN|org|o"), "ORIGIN");
            tokens.expect("=");
            expressions.upTo(Set.of(","));
            tokens.expect(",");
            tokens.next(Pattern.compile("LENGTH|len|l"), "LENGTH");
            tokens.expect("=");
            expressions.memoryLength();
        }
    }

    private void section() {
        if (common()) {
            return;
        }
        boolean isDebug = DEBUG.matcher(tokens.peek()).matches();
        if (!tokens.take("/DISCARD/")) {
            if (COMMAND.matcher(tokens.peek()).matches()) {
                throw tokens.refused("the linker command " + tokens.peek());
            }
            if (ORDERS.matcher(tokens.peek()).matches()) {
                throw tokens.refused("the section " + tokens.peek() + ", which gives orders to programs");
            }
            tokens.next(NAME, "a section");
        }
        while (!tokens.take(":")) {
            if (tokens.peek().equals("(") && LAYOUT.contains(tokens.peekBehind())) {
                tokens.skip();
                tokens.skip();
                tokens.expect(")");
            } else {
                expressions.operand();
            }
        }
        while (!tokens.take("{")) {
            placement();
        }
        while (!tokens.take("}")) {
            content(isDebug);
        }
        trailer();
    }

    /** {@code AT(…)}, {@code ALIGN(…)}, {@code SUBALIGN(…)} and the like between colon and brace. */
    private void placement() {
        tokens.next(Pattern.compile("AT|ALIGN|SUBALIGN|ALIGN_WITH_INPUT|ONLY_IF_RO|ONLY_IF_RW"), "{");
        if (tokens.take("(")) {
            expressions.upTo(Set.of(")"));
            tokens.expect(")");
        }
    }

    private void trailer() {
        while (true) {
            if (tokens.take("AT")) {
                tokens.expect(">");
                tokens.next(NAME, "a memory");
            } else if (tokens.take(">")) {
                tokens.next(NAME, "a memory");
            } else if (tokens.take("=")) {
                expressions.operand();
            } else {
                tokens.take(",");
                return;
            }
        }
    }

    private void content(boolean isDebug) {
        if (isDebug) {
            inputs.ofDebugInformation();
            return;
        }
        if (common()) {
            return;
        }
        if (DATA.contains(tokens.peek())) {
            tokens.skip();
            tokens.expect("(");
            expressions.upTo(Set.of(")"));
            tokens.expect(")");
        } else {
            inputs.next();
        }
        tokens.take(";");
    }

    /**
     * The input sections that an untrusted linker script may place: patterns of files, which begin with * so that linkers
     * match and never open them, and patterns of sections, sorted or kept.
     */
    private record InputSections(ScriptTokens tokens) {
        /** Deepest nesting of sorts that is accepted; linkers support two. */
        private static final int DEEPEST = 4;

        private static final Set<String> SORTS = Set.of(
                "KEEP", "SORT", "SORT_BY_NAME", "SORT_BY_ALIGNMENT", "SORT_BY_INIT_PRIORITY", "SORT_NONE", "REVERSE");

        private static final Pattern FILES = Pattern.compile("\\*[A-Za-z0-9_.*?+-]*:?");
        private static final Pattern SECTIONS = Pattern.compile("[A-Za-z0-9_.*?-]+");
        private static final Pattern FROM_COMPILER =
                Pattern.compile("\\.(?:z?debug|stab|ctf|gnu\\.linkonce\\.w|gnu\\.debuglto).*");

        /** Debug information of any file; a script may place the compiler's, but not add any. */
        void ofDebugInformation() {
            tokens.next(Pattern.compile("\\*"), "* and sections of debug information");
            tokens.expect("(");
            while (!tokens.take(")")) {
                tokens.next(FROM_COMPILER, "sections of debug information");
            }
        }

        /** An input section, which may be sorted or kept. */
        void next() {
            if (SORTS.contains(tokens.peek())) {
                tokens.skip();
                tokens.expect("(");
                input();
                tokens.expect(")");
            } else {
                input();
            }
        }

        /** A pattern of files, and patterns of sections in parentheses. */
        private void input() {
            tokens.next(FILES, "a pattern of files that begins with *");
            if (tokens.take("(")) {
                while (!tokens.take(")")) {
                    patterns();
                }
            }
        }

        private void patterns() {
            patterns(DEEPEST);
        }

        private void patterns(int levels) {
            if (levels == 0) {
                throw tokens.refused("more than " + DEEPEST + " nested sorts");
            }
            if (tokens.take("EXCLUDE_FILE")) {
                tokens.expect("(");
                while (!tokens.take(")")) {
                    tokens.next(FILES, "a pattern of files that begins with *");
                }
            } else if (SORTS.contains(tokens.peek()) && tokens.peekBehind().equals("(")) {
                tokens.skip();
                tokens.expect("(");
                while (!tokens.take(")")) {
                    patterns(levels - 1);
                }
            } else {
                tokens.next(SECTIONS, "a pattern of sections");
                tokens.take(",");
            }
        }
    }

    /** Expressions of linker scripts: numbers, symbols, operators and pure functions. */
    private static final class ScriptExpressions {
        static final Set<String> ASSIGNMENTS = Set.of("=", "+=", "-=", "*=", "/=", "&=", "|=", "<<=", ">>=");
        private static final Set<String> FUNCTIONS = Set.of(
                "ALIGN",
                "ADDR",
                "LOADADDR",
                "SIZEOF",
                "ORIGIN",
                "LENGTH",
                "MAX",
                "MIN",
                "DEFINED",
                "ABSOLUTE",
                "ALIGNOF",
                "NEXT",
                "LOG2CEIL",
                "BLOCK",
                "org",
                "o",
                "len",
                "l");
        private static final Set<String> OPERATORS = Set.of(
                "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "?", ":", "<", ">", "<=", ">=", "==", "!=", "<<",
                ">>", "&&", "||", ",");

        /** Commands without parentheses: a linker executes them as soon as the preceding expression is complete. */
        private static final Set<String> COMMANDS =
                Set.of("INCLUDE", "INSERT", "MEMORY", "SECTIONS", "PHDRS", "VERSION", "OVERLAY");

        private static final Pattern NAME = Pattern.compile("[A-Za-z_.][A-Za-z0-9_.]*");
        private static final Pattern NUMBER = Pattern.compile("(?:0[xX][0-9a-fA-F]+|[0-9]+)[kKmM]?");

        /** Words of expressions: outside patterns of files and sections, - and * are operators. */
        private static final Pattern TERMS =
                Pattern.compile("\\*?[A-Za-z0-9_.](?:[A-Za-z0-9_.]|[-*](?=[A-Za-z0-9_.]))*+");

        /** Deepest nesting that is accepted; a deeper one would overflow the stack, here or in the linker. */
        private static final int DEEPEST = 100;

        private final ScriptTokens tokens;
        private int depth;

        ScriptExpressions(ScriptTokens tokens) {
            this.tokens = tokens;
        }

        void assignment() {
            tokens.next(NAME, "a symbol");
            if (!ASSIGNMENTS.contains(tokens.peek())) {
                throw tokens.refused(tokens.peek() + " where a value is assigned");
            }
            tokens.skip();
            upTo(Set.of(";", ")"));
        }

        /** An expression terminated only by the next memory or the closing brace. */
        void memoryLength() {
            int line = tokens.line();
            while (!tokens.peek().equals("}") && (tokens.line() == line || tokens.isWithin())) {
                operand();
            }
        }

        /** An expression up to one of these marks, which is not consumed. */
        void upTo(Set<String> ends) {
            while (!ends.contains(tokens.peek())) {
                operand();
            }
        }

        void operand() {
            String token = tokens.peek();
            boolean isCalled = tokens.peekBehind().equals("(");
            if (token.equals("(")) {
                if (++depth > DEEPEST) {
                    throw tokens.refused("more than " + DEEPEST + " nested parentheses");
                }
                tokens.skip();
                upTo(Set.of(")"));
                tokens.expect(")");
                depth--;
            } else if (OPERATORS.contains(token)
                    || FUNCTIONS.contains(token)
                    || NUMBER.matcher(token).matches()) {
                tokens.skip();
            } else if (!isCalled
                    && !COMMANDS.contains(token)
                    && TERMS.matcher(token).matches()) {
                tokens.skip();
            } else {
                throw tokens.refused(token + " in an expression");
            }
        }
    }

    /** Counts what a linker reads for scripts that include each other: ten files that include the next one ten times are 10^10 files for a linker. */
    public static final class ScriptIncludes {
        /** Inclusions of a script, those in included scripts counted each time; real boards have one or two. */
        static final long MOST_INCLUSIONS = 1000;

        /** Characters of a script with all that it includes. */
        static final long MOST_CHARACTERS = 16 << 20;

        private final SortedMap<String, String> scripts;
        private final Map<String, Size> sizes = new HashMap<>();
        private final Set<String> open = new HashSet<>();

        private ScriptIncludes(SortedMap<String, String> scripts) {
            this.scripts = scripts;
        }

        /** A script as a linker reads it; a script that includes itself has no end. */
        private record Size(long inclusions, long characters, boolean isEndless) {
            Size plus(Size included) {
                return new Size(
                        capped(inclusions + included.inclusions + 1, MOST_INCLUSIONS),
                        capped(characters + included.characters, MOST_CHARACTERS),
                        isEndless || included.isEndless);
            }

            private static long capped(long number, long most) {
                return Math.min(number, most + 1);
            }
        }

        /**
         * Why scripts are refused together; empty if a linker reads little.
         *
         * @param scripts all of a board's scripts, text by name
         */
        public static Optional<Refusal> refusal(SortedMap<String, String> scripts) {
            ScriptIncludes includes = new ScriptIncludes(scripts);
            for (String name : scripts.keySet()) {
                Size size = includes.size(name);
                if (size.isEndless) {
                    return Optional.of(new Refusal(name, 1, "INCLUDE of a script that includes itself"));
                }
                if (size.inclusions > MOST_INCLUSIONS || size.characters > MOST_CHARACTERS) {
                    return Optional.of(new Refusal(
                            name,
                            1,
                            "a linker script that reads others more than " + MOST_INCLUSIONS + " times, or more than "
                                    + MOST_CHARACTERS + " characters, by INCLUDE"));
                }
            }
            return Optional.empty();
        }

        private Size size(String name) {
            Size known = sizes.get(name);
            if (known != null) {
                return known;
            }
            String text = scripts.get(name);
            if (text == null) {
                return new Size(0, 0, false);
            }
            if (!open.add(name)) {
                return new Size(0, 0, true);
            }
            Size size = new Size(0, text.length(), false);
            for (String included : LinkerScript.includes(text)) {
                size = size.plus(size(included));
            }
            open.remove(name);
            sizes.put(name, size);
            return size;
        }
    }
}
