// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import io.kiln.toolchain.fence.CLexer.Kind;
import io.kiln.toolchain.fence.Refusals.Refusal;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
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
}
