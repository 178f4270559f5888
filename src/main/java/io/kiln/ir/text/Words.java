// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.base.Failure;

/** The words of a text with a lookahead of one. */
final class Words {
    private final String file;
    private final RelayLexer lexer;
    private Token next;

    /** Reads the first word, which may already be wrong. */
    Words(String file, String text) {
        this.file = file;
        this.lexer = new RelayLexer(file, text);
        this.next = new Token(Token.Kind.SYMBOL, "", new Place(1, 1), "");
    }

    Token peek() {
        return next;
    }

    /** The current word; advances to the next. */
    Token take() {
        Token taken = next;
        // If the lexer throws, the word taken must not be read again.
        next = new Token(Token.Kind.SYMBOL, "", taken.place(), "");
        next = lexer.next();
        return taken;
    }

    boolean takeIf(String symbol) {
        boolean matches = next.is(symbol);
        if (matches) {
            take();
        }
        return matches;
    }

    Token expect(String symbol) {
        if (!next.is(symbol)) {
            throw unexpected("`" + symbol + "`");
        }
        return take();
    }

    Token expect(Token.Kind kind, String what) {
        if (next.kind() != kind) {
            throw unexpected(what);
        }
        return take();
    }

    SyntaxException unexpected(String expected) {
        return failure(next.place(), next.shown() + " is not expected here", expected, "");
    }

    SyntaxException failure(Place place, String what, String expected, String advice) {
        return new SyntaxException(Failure.MODEL.problem(what, place.in(file), expected, advice));
    }

    String file() {
        return file;
    }

    /** Index in the text after the word returned by {@link #peek}. */
    int position() {
        return lexer.position();
    }

    /** The line at {@link #position}. */
    int line() {
        return lexer.line();
    }
}
