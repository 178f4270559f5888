// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import java.util.Set;
import java.util.regex.Pattern;

/** Expressions of linker scripts: numbers, symbols, operators and pure functions. */
final class ScriptExpressions {
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
            "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "?", ":", "<", ">", "<=", ">=", "==", "!=", "<<", ">>",
            "&&", "||", ",");

    /** Commands without parentheses: a linker executes them as soon as the preceding expression is complete. */
    private static final Set<String> COMMANDS =
            Set.of("INCLUDE", "INSERT", "MEMORY", "SECTIONS", "PHDRS", "VERSION", "OVERLAY");

    private static final Pattern NAME = Pattern.compile("[A-Za-z_.][A-Za-z0-9_.]*");
    private static final Pattern NUMBER = Pattern.compile("(?:0[xX][0-9a-fA-F]+|[0-9]+)[kKmM]?");

    /** Words of expressions: outside patterns of files and sections, - and * are operators. */
    private static final Pattern TERMS = Pattern.compile("\\*?[A-Za-z0-9_.](?:[A-Za-z0-9_.]|[-*](?=[A-Za-z0-9_.]))*+");

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
