// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import io.kiln.toolchain.fence.CLexer.DirectiveLines;
import io.kiln.toolchain.fence.CLexer.Kind;
import io.kiln.toolchain.fence.Refusals.Refusal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Checks untrusted, preprocessed C against a small language, before exactly this text is compiled. The language is C
 * without anything that reaches beyond the program: its only directives are line markers and a few pragmas, so that
 * compiling it reads no file; assembly is plain instructions ({@link AsmTemplate}), so that the assembler reads none
 * either; attributes and sections come from lists ({@link AttributeList}, {@link Dialect}). A list of forbidden
 * constructs would have to know every spelling of every directive of each tool; a list of allowed ones only has to know
 * what real code needs.
 */
public final class FencedC {
    static final Set<String> ASM = Set.of("asm", "__asm", "__asm__");
    private static final Set<String> QUALIFIERS = Set.of(
            "volatile", "__volatile", "__volatile__", "inline", "__inline", "__inline__", "goto", "const", "__const");
    private static final Set<String> BEFORE_STATEMENTS = Set.of("else", "do", "__extension__");
    private static final Set<String> BEFORE_CONDITIONS = Set.of("if", "for", "while", "switch");
    static final Set<String> ATTRIBUTE = Set.of("__attribute__", "__attribute");
    static final Set<String> FOREIGN_WORDS = Set.of(
            "_Pragma",
            "__pragma",
            "_asm",
            "__declspec",
            "_declspec",
            "__import__",
            "__try",
            "__has_include",
            "__has_include_next",
            "__has_embed");

    private static final Pattern REGISTER = Pattern.compile("[a-z]{1,2}[0-9]{1,2}|sp|lr|ip|fp|gp|tp|zero|ra");
    private static final Pattern SYMBOL = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
    private static final Pattern CONSTRAINT = Pattern.compile("[A-Za-z0-9=+&%,*_?!#^<> -]*");

    private final CLexer lexer;
    private final Dialect dialect;
    private final Deque<Integer> asmDepths = new ArrayDeque<>();
    /** For each open parenthesis: whether it belongs to a statement's condition. */
    private final Deque<Boolean> conditions = new ArrayDeque<>();

    private boolean afterCondition;
    private int braces;
    private int parentheses;
    private boolean hasRegister;
    private Kind before = Kind.END;
    private String wordBefore = "";
    private char markBefore = ';';

    private FencedC(CLexer lexer, Dialect dialect) {
        this.lexer = lexer;
        this.dialect = dialect;
    }

    /**
     * What is refused in a text; empty if it conforms.
     *
     * @param text the preprocessor's output
     * @param isKnown whether a line marker may name a file
     */
    public static List<Refusal> refusals(byte[] text, Dialect dialect, Predicate<String> isKnown) {
        Refusals refusals = new Refusals();
        CLexer lexer = new CLexer(text, new DirectiveLines(isKnown), refusals);
        new FencedC(lexer, dialect).check();
        return refusals.list();
    }

    private void check() {
        for (Kind kind = lexer.next(); kind != Kind.END; kind = lexer.next()) {
            token(kind);
        }
    }

    private void token(Kind kind) {
        switch (kind) {
            case WORD -> word(lexer.text());
            case MARK -> mark(lexer.text().charAt(0));
            case STRING -> {
                if (!asmDepths.isEmpty() && asmDepths.peek() == parentheses) {
                    constraint(lexer.text());
                }
            }
            default -> {}
        }
        before = kind;
    }

    private void word(String word) {
        if (ASM.contains(word)) {
            assembly();
        } else if (ATTRIBUTE.contains(word)) {
            // A name may also follow the attributes of its declarator.
            String stands = isName() ? word : "__extension__";
            new AttributeList(lexer, dialect).read();
            wordBefore = stands;
        } else {
            if (FOREIGN_WORDS.contains(word)) {
                lexer.refuse("the word " + word);
            }
            hasRegister |= word.equals("register");
            wordBefore = word;
        }
    }

    private void mark(char mark) {
        switch (mark) {
            case '{' -> braces++;
            case '}' -> braces--;
            case '(' -> {
                conditions.push(before == Kind.WORD && BEFORE_CONDITIONS.contains(wordBefore));
                parentheses++;
            }
            case ')' -> {
                afterCondition = !conditions.isEmpty() && conditions.pop();
                if (!asmDepths.isEmpty() && asmDepths.peek() == parentheses) {
                    asmDepths.pop();
                }
                parentheses--;
            }
            case '[' -> {
                if (before == Kind.MARK && markBefore == '[') {
                    lexer.refuse("attributes in double brackets; use __attribute__ instead");
                }
            }
            default -> {}
        }
        if (mark == ';' || mark == '{' || mark == '}') {
            hasRegister = false;
        }
        markBefore = mark;
    }

    /** Whether an assembly string renames a symbol, as it does after a declarator; elsewhere it is a statement. */
    private boolean isName() {
        if (before == Kind.WORD) {
            return !BEFORE_STATEMENTS.contains(wordBefore);
        }
        return before == Kind.MARK && (markBefore == ']' || (markBefore == ')' && !afterCondition));
    }

    private void assembly() {
        boolean isName = isName();
        Kind kind = lexer.next();
        while (kind == Kind.WORD && QUALIFIERS.contains(lexer.text())) {
            kind = lexer.next();
        }
        if (!lexer.is('(')) {
            lexer.refuse("asm without parentheses");
            token(kind);
            return;
        }
        StringBuilder literal = new StringBuilder();
        for (kind = lexer.next(); kind == Kind.STRING; kind = lexer.next()) {
            literal.append(lexer.content());
        }
        refusal(literal.toString(), isName).ifPresent(lexer::refuse);
        if (kind != Kind.MARK || !(lexer.is(':') || lexer.is(')'))) {
            lexer.refuse("asm of anything but string literals");
        }
        parentheses++;
        conditions.push(false);
        asmDepths.push(parentheses);
        before = Kind.MARK;
        markBefore = '(';
        token(kind);
    }

    private Optional<String> refusal(String literal, boolean isName) {
        if (isName && hasRegister && REGISTER.matcher(literal).matches() && dialect.hasInstructions()) {
            return Optional.empty();
        }
        if (isName) {
            return dialect.hasNames() && braces == 0 && SYMBOL.matcher(literal).matches()
                    ? Optional.empty()
                    : Optional.of("the symbol name " + Refusals.shown(literal) + " given by asm");
        }
        if (!dialect.hasInstructions()) {
            return Optional.of("assembly, which would run on this computer");
        }
        return braces == 0 ? Optional.of("assembly outside of a function") : AsmTemplate.refusal(literal);
    }

    private void constraint(String literal) {
        if (lexer.hasPrefix()
                || !CONSTRAINT
                        .matcher(literal.substring(1, literal.length() - 1))
                        .matches()) {
            lexer.refuse("the constraint or clobber " + Refusals.shown(literal));
        }
    }

    /**
     * Checks the text of an inline assembly statement against a language of plain instructions. Each statement is a
     * mnemonic with operands, after any number of labels, or one of the few directives that Kiln's own kernels need: none
     * of them takes a string, or a name other than that of one number, so none can read a file. Quotes, comments, backslashes and definitions are refused,
     * because an assembler could compose a directive with them.
     */
    private static final class AsmTemplate {
        private static final Pattern CHARACTERS = Pattern.compile("[A-Za-z0-9 \\t\\n_.,#\\[\\]{}!+\\-*()%:;=&^~<>]*");
        private static final Pattern LABEL =
                Pattern.compile("\\s*(?:[0-9]{1,3}|(?:\\.L)?[A-Za-z_][A-Za-z0-9_.]*(?:%=)?)\\s*:");
        private static final Pattern DIRECTIVE =
                Pattern.compile("\\.(?:ltorg|pool|endr|syntax\\s+unified|p2align\\s+[0-9]{1,2}"
                        + "|set\\s+\\.Lkiln_at,\\s*(?:\\.Lkiln_at\\s*\\+\\s*)?[0-9]{1,5}"
                        + "|(?:b?align)\\s+[0-9]{1,4}|option\\s+(?:push|pop|rvc|norvc)|rept\\s+([0-9]{1,5}))");
        private static final Pattern INSTRUCTION = Pattern.compile("[A-Za-z][A-Za-z0-9_.]*(?:\\s++(?![=:]).*)?");

        /** A word that begins with a dot, other than a local label, could be a directive after a name; parts of it may come from an operand. */
        private static final Pattern DOTTED_OPERAND = Pattern.compile("(?<![A-Za-z0-9_.])\\.(?!L)[A-Za-z_%{}]");

        /**
         * Colons and equals signs where instructions have them: {@code #:lower16:}, {@code =} of a constant, {@code %=}.
         * Elsewhere they would make the mnemonic a label or a symbol: operands can be empty ({@code %i0} of a register),
         * and clang drops braces for RISC-V.
         */
        private static final Pattern INNER_MARKS = Pattern.compile("#:[a-z0-9_]{1,20}:|,\\s*+=|%=");

        private static final Pattern DEFINING = Pattern.compile("[:=]");

        /** Limit of repetitions, all levels multiplied, because more would exhaust memory. */
        private static final long MOST_REPEATED = 1 << 16;

        private final Deque<Long> repeated = new ArrayDeque<>();

        private AsmTemplate() {}

        /**
         * What is refused in a template; empty if it conforms.
         *
         * @param literal the content of the string literals, joined, escapes as written
         */
        static Optional<String> refusal(String literal) {
            String text = literal.replace("\\n", "\n").replace("\\t", "\t");
            Matcher other = CHARACTERS.matcher(text);
            if (!other.matches()) {
                other.reset().lookingAt();
                return Optional.of("the character " + text.charAt(other.end()) + " in assembly");
            }
            return new AsmTemplate().statements(text);
        }

        private Optional<String> statements(String text) {
            for (String statement : text.split("[\\n;]", -1)) {
                Optional<String> refused = statement(statement);
                if (refused.isPresent()) {
                    return refused;
                }
            }
            return repeated.isEmpty() ? Optional.empty() : Optional.of(".rept without .endr");
        }

        private Optional<String> statement(String text) {
            Matcher label = LABEL.matcher(text);
            int end = 0;
            while (label.lookingAt()) {
                end = label.end();
                label.region(end, text.length());
            }
            String rest = text.substring(end).strip();
            if (rest.isEmpty()) {
                return Optional.empty();
            }
            if (rest.startsWith(".")) {
                return directive(rest);
            }
            if (!INSTRUCTION.matcher(rest).matches() || isDefinition(rest)) {
                return Optional.of("assembly that is not a plain instruction: " + Refusals.shown(rest));
            }
            return Optional.empty();
        }

        private static boolean isDefinition(String text) {
            return DOTTED_OPERAND.matcher(text).find()
                    || DEFINING.matcher(INNER_MARKS.matcher(text).replaceAll(""))
                            .find();
        }

        private Optional<String> directive(String text) {
            Matcher directive = DIRECTIVE.matcher(text);
            if (!directive.matches()) {
                return Optional.of("the assembler directive " + Refusals.shown(text));
            }
            if (directive.group(1) != null) {
                long times = (repeated.isEmpty() ? 1 : repeated.peek()) * Long.parseLong(directive.group(1));
                repeated.push(times);
                if (times > MOST_REPEATED) {
                    return Optional.of("more than " + MOST_REPEATED + " repetitions");
                }
            } else if (text.equals(".endr") && repeated.poll() == null) {
                return Optional.of(".endr without .rept");
            }
            return Optional.empty();
        }
    }

    /** Reads the list in the double parentheses of {@code __attribute__}, and checks that each attribute is allowed. */
    private static final class AttributeList {

        private static final Set<String> WITHOUT_STRINGS = Set.of(
                "aligned",
                "packed",
                "used",
                "unused",
                "weak",
                "naked",
                "noreturn",
                "noinline",
                "always_inline",
                "flatten",
                "hot",
                "cold",
                "const",
                "pure",
                "leaf",
                "nothrow",
                "nonnull",
                "returns_nonnull",
                "malloc",
                "alloc_size",
                "alloc_align",
                "assume_aligned",
                "warn_unused_result",
                "format",
                "format_arg",
                "sentinel",
                "may_alias",
                "mode",
                "vector_size",
                "ext_vector_type",
                "transparent_union",
                "fallthrough",
                "maybe_unused",
                "gnu_inline",
                "artificial",
                "retain",
                "noclone",
                "nocommon",
                "returns_twice",
                "access",
                "no_instrument_function",
                "nonstring",
                "no_icf",
                "nodebug",
                "overloadable",
                "clang_arm_builtin_alias",
                "clang_arm_mve_strict_polymorphism",
                "neon_vector_type",
                "neon_polyvector_type",
                "min_vector_width",
                "convergent",
                "nomerge",
                "minsize",
                "cmse_nonsecure_entry");
        private static final Pattern SYMBOL = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
        private static final Pattern OPTION = Pattern.compile("[A-Za-z0-9_.,+=-]*");

        /** Attributes that are allowed only for boards, where no loader and no C library calls functions by name. */
        private static final Set<String> ON_BOARDS =
                Set.of("weak", "alias", "naked", "interrupt", "visibility", "target", "pcs", "cmse_nonsecure_entry");

        private static final Map<String, Strings> ALLOWED = allowed();

        private final CLexer lexer;
        private final Dialect dialect;
        private final List<String> strings = new ArrayList<>();
        private final StringBuilder joined = new StringBuilder();
        private String name = "";
        private boolean isString;
        private int depth;

        AttributeList(CLexer lexer, Dialect dialect) {
            this.lexer = lexer;
            this.dialect = dialect;
        }

        /** Reads from the word to the last parenthesis. */
        void read() {
            for (int parenthesis = 0; parenthesis < 2; parenthesis++) {
                if (lexer.next() != Kind.MARK || !lexer.is('(')) {
                    lexer.refuse("an attribute without double parentheses");
                    return;
                }
            }
            while (depth >= 0) {
                Kind kind = lexer.next();
                if (kind == Kind.END) {
                    lexer.refuse("an unterminated attribute");
                    return;
                }
                token(kind);
                if (depth < 0 || (depth == 0 && lexer.is(','))) {
                    finish();
                }
            }
            if (lexer.next() != Kind.MARK || !lexer.is(')')) {
                lexer.refuse("an attribute without its second parenthesis");
            }
        }

        private void token(Kind kind) {
            if (kind == Kind.STRING) {
                joined.append(lexer.content());
            } else if (kind == Kind.WORD) {
                String word = lexer.text();
                if (FencedC.ASM.contains(word)
                        || FencedC.ATTRIBUTE.contains(word)
                        || FencedC.FOREIGN_WORDS.contains(word)) {
                    lexer.refuse("the word " + word + " in an attribute");
                }
                name = depth == 0 ? word : name;
            } else if (lexer.is('(')) {
                depth++;
            } else if (lexer.is(')')) {
                depth--;
            }
            if (isString && kind != Kind.STRING) {
                strings.add(joined.toString());
                joined.setLength(0);
            }
            isString = kind == Kind.STRING;
        }

        private void finish() {
            if (!name.isEmpty() || !strings.isEmpty()) {
                refusal(name, List.copyOf(strings), dialect).ifPresent(lexer::refuse);
            }
            name = "";
            strings.clear();
        }

        /** What strings may be among an attribute's arguments. */
        private enum Strings {
            NONE,
            SECTION,
            SYMBOL,
            TEXT,
            OPTION
        }

        /**
         * Why an attribute is not allowed. Declarations may have those for layout, placement, optimisation and warnings, but none that runs code before main,
         * chooses code at load time, or passes options to the compiler.
         */
        private static Optional<String> refusal(String name, List<String> strings, Dialect dialect) {
            String plain = plain(name);
            Strings kind = ALLOWED.get(plain);
            boolean isHere = dialect == Dialect.BOARD || !ON_BOARDS.contains(plain) || isVisibility(plain, strings);
            if (kind == null || !isHere) {
                return Optional.of("the attribute " + Refusals.shown(plain));
            }
            for (String string : strings) {
                Optional<String> refused = refusal(plain, kind, string, dialect);
                if (refused.isPresent()) {
                    return refused;
                }
            }
            return Optional.empty();
        }

        private static boolean isVisibility(String name, List<String> strings) {
            return name.equals("visibility") && strings.equals(List.of("default"));
        }

        private static Optional<String> refusal(String name, Strings kind, String string, Dialect dialect) {
            boolean isFine = switch (kind) {
                case NONE -> false;
                case SECTION -> true;
                case SYMBOL -> SYMBOL.matcher(string).matches();
                case TEXT -> true;
                case OPTION -> OPTION.matcher(string).matches();
            };
            if (kind == Strings.SECTION) {
                return dialect.sectionRefusal(string);
            }
            return isFine
                    ? Optional.empty()
                    : Optional.of("the attribute " + name + " with \"" + Refusals.shown(string) + "\"");
        }

        private static String plain(String name) {
            boolean isWrapped = name.length() > 4 && name.startsWith("__") && name.endsWith("__");
            return isWrapped ? name.substring(2, name.length() - 2) : name.replaceFirst("^__", "");
        }

        private static Map<String, Strings> allowed() {
            Map<String, Strings> map = new HashMap<>();
            WITHOUT_STRINGS.forEach(name -> map.put(name, Strings.NONE));
            List.of("deprecated", "unavailable", "warning", "error").forEach(name -> map.put(name, Strings.TEXT));
            List.of("visibility", "target", "interrupt", "pcs").forEach(name -> map.put(name, Strings.OPTION));
            map.put("alias", Strings.SYMBOL);
            map.put("section", Strings.SECTION);
            return Map.copyOf(map);
        }
    }
}
