// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import io.kiln.toolchain.fence.CLexer.Kind;
import java.util.ArrayList;
import java.util.List;

/** Reads the list in the double parentheses of {@code __attribute__}, and checks that each attribute is allowed. */
final class AttributeList {
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
            CAttributes.refusal(name, List.copyOf(strings), dialect).ifPresent(lexer::refuse);
        }
        name = "";
        strings.clear();
    }
}
