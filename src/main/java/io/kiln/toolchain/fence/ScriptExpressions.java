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

    /** Commands without parentheses: a linker takes them for what they are as soon as the expression before them is whole. */
    private static final Set<String> COMMANDS =
            Set.of("INCLUDE", "INSERT", "MEMORY", "SECTIONS", "PHDRS", "VERSION", "OVERLAY");

    private static final Pattern NAME = Pattern.compile("[A-Za-z_.][A-Za-z0-9_.]*");
    private static final Pattern NUMBER = Pattern.compile("(?:0[xX][0-9a-fA-F]+|[0-9]+)[kKmM]?");

    /** Where a pattern of files or sections cannot be meant, - and * are operators. */
    private static final Pattern TERMS = Pattern.compile("\\*?[A-Za-z0-9_.](?:[A-Za-z0-9_.]|[-*](?=[A-Za-z0-9_.]))*+");

    /** Deeper ones would fill the stack, here or in the linker. */
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
            if (++depth > DEEPEST) {
                throw tokens.refused("more than " + DEEPEST + " parentheses in each other");
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
