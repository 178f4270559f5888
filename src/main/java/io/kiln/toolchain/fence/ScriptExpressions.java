// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import java.util.Set;
import java.util.regex.Pattern;

/** Expressions of linker scripts: numbers, symbols, operators and functions that compute. */
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

    private static final Pattern NAME = Pattern.compile("[A-Za-z_.][A-Za-z0-9_.]*");
    private static final Pattern NUMBER = Pattern.compile("(?:0[xX][0-9a-fA-F]+|[0-9]+)[kKmM]?");

    /** Where a pattern of files or sections cannot be meant, - and * are operators. */
    private static final Pattern TERMS = Pattern.compile("\\*?[A-Za-z0-9_.]+(?:[-*][A-Za-z0-9_.]+)*");

    private final ScriptTokens tokens;

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

    /** Nothing ends it but what follows: the next memory, or the brace. */
    void memoryLength() {
        int line = tokens.line();
        while (!tokens.peek().equals("}") && (tokens.line() == line || tokens.isWithin())) {
            operand();
        }
    }

    /** Up to one of these marks, which is left. */
    void upTo(Set<String> ends) {
        while (!ends.contains(tokens.peek())) {
            operand();
        }
    }

    void operand() {
        String token = tokens.peek();
        boolean isCalled = tokens.peekBehind().equals("(");
        if (token.equals("(")) {
            tokens.skip();
            upTo(Set.of(")"));
            tokens.expect(")");
        } else if (OPERATORS.contains(token)
                || FUNCTIONS.contains(token)
                || NUMBER.matcher(token).matches()) {
            tokens.skip();
        } else if (!isCalled && TERMS.matcher(token).matches()) {
            tokens.skip();
        } else {
            throw tokens.refused(token + " in an expression");
        }
    }
}
