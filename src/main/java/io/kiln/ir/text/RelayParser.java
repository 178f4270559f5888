// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.base.Problem;
import io.kiln.ir.Constant;
import io.kiln.ir.text.RelaySyntax.Attribute;
import io.kiln.ir.text.RelaySyntax.Definition;
import io.kiln.ir.text.RelaySyntax.Expression;
import io.kiln.ir.text.RelaySyntax.Param;
import io.kiln.ir.text.RelaySyntax.Statement;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Reads Relay text 0.0.5, as {@link RelayPrinter} and TVM print it: the version (which may be left out), {@code def @main}, and a metadata
 * section. After a mistake it goes on with the next statement, so that all are found. Text of any size and depth is read in linear time
 * and without deep recursion.
 */
public final class RelayParser {
    /** No tensor may be larger. */
    public static final long MAX_TENSOR_BYTES = 1L << 28;

    private static final String VERSION = "0.0.5";

    private final String text;
    private final Words words;
    private final ExpressionParser expressions;
    private final TypeParser types;
    private final Consumer<Problem> problems;

    private final List<Param> params = new ArrayList<>();
    private final List<Attribute> attributes = new ArrayList<>();
    private final List<Statement> statements = new ArrayList<>();
    private final List<Expression> results = new ArrayList<>();
    private List<TensorType> resultTypes = List.of();
    private List<Constant> constants = List.of();

    private RelayParser(String text, String file, Consumer<Problem> problems) {
        this.text = text;
        this.words = new Words(file, text);
        this.expressions = new ExpressionParser(words);
        this.types = new TypeParser(words);
        this.problems = problems;
    }

    /**
     * Reads a text.
     *
     * @param text the whole of it
     * @param file what messages call it
     * @param problems receives every mistake, in order; with any, the result is incomplete
     */
    public static Definition parse(String text, String file, Consumer<Problem> problems) {
        RelayParser parser = new RelayParser(text, file, problems);
        try {
            parser.module();
        } catch (SyntaxException e) {
            problems.accept(e.problem());
        }
        return new Definition(
                parser.params,
                parser.attributes,
                parser.resultTypes,
                parser.statements,
                parser.results,
                parser.constants);
    }

    private void module() {
        words.take();
        if (words.peek().is("#")) {
            version();
        }
        Token def = words.peek();
        if (!def.isName("def")) {
            throw words.unexpected("def @main");
        }
        words.take();
        Token name = words.expect(Token.Kind.GLOBAL, "@main");
        if (!name.text().equals("@main")) {
            throw words.failure(
                    name.place(), "the function " + name.shown() + " is not supported", "@main alone", "Inline it");
        }
        header();
        words.expect("{");
        body();
        if (words.peek().is("#")) {
            metadata();
        } else if (words.peek().kind() != Token.Kind.END) {
            throw words.failure(
                    words.peek().place(),
                    words.peek().shown() + " follows @main",
                    "#[metadata] or the end of the text",
                    "Inline every other function into @main");
        }
    }

    private void version() {
        words.expect("#");
        words.expect("[");
        Token key = words.expect(Token.Kind.NAME, "version");
        words.expect("=");
        Token version = words.expect(Token.Kind.STRING, "a version in quotes");
        if (!key.text().equals("version") || !version.text().equals(VERSION)) {
            throw words.failure(
                    version.place(),
                    "Relay text of " + key.text() + " " + version.shown() + " is not supported",
                    "version \"" + VERSION + "\"",
                    "Export the model with TVM 0.8 to 0.18");
        }
        words.expect("]");
    }

    private void header() {
        words.expect("(");
        while (!words.peek().is(")")) {
            if (words.peek().kind() == Token.Kind.NAME) {
                attributes.add(expressions.attribute(words.take()));
            } else {
                Token name = words.expect(Token.Kind.LOCAL, "%name: type, or an attribute");
                words.expect(":");
                TensorType type = types.tensor();
                params.add(new Param(name.text().substring(1), type, types.open(), name.place()));
            }
            if (!words.takeIf(",")) {
                break;
            }
        }
        words.expect(")");
        if (words.takeIf("->")) {
            resultTypes = types.results();
        }
    }

    private void body() {
        while (results.isEmpty() && !words.peek().is("}")) {
            if (words.peek().kind() == Token.Kind.END) {
                throw words.unexpected("`}`");
            }
            try {
                line();
            } catch (SyntaxException e) {
                problems.accept(e.problem());
                skipStatement();
            }
        }
        Token end = words.expect("}");
        if (results.isEmpty()) {
            problems.accept(
                    new Problem("@main has no result", end.place().in(words.file()), "a last line such as %9", ""));
        }
    }

    /** {@code %x = value;}, {@code let %x = value;} or the result. */
    private void line() {
        boolean let = words.peek().isName("let");
        if (let) {
            words.take();
        }
        if (words.peek().is("(")) {
            tuple();
            return;
        }
        if (words.peek().kind() != Token.Kind.LOCAL) {
            results.add(expressions.expression(0));
            return;
        }
        Token name = words.take();
        if (let && words.takeIf(":")) {
            types.tensor();
        }
        if (words.takeIf("=")) {
            Expression value = expressions.expression(0);
            words.expect(";");
            statements.add(new Statement(name.text().substring(1), value, name.place()));
        } else if (let || !words.peek().is("}")) {
            throw words.unexpected("`=`");
        } else {
            results.add(new RelaySyntax.Local(name.text().substring(1), name.place(), ""));
        }
    }

    private void tuple() {
        words.take();
        while (!words.peek().is(")")) {
            results.add(expressions.expression(1));
            if (!words.takeIf(",")) {
                break;
            }
        }
        words.expect(")");
    }

    /** On behind the next semicolon, or up to the brace that ends the body. */
    private void skipStatement() {
        int depth = 0;
        while (words.peek().kind() != Token.Kind.END
                && !(depth == 0 && words.peek().is("}"))) {
            try {
                Token skipped = words.take();
                if (skipped.is(";") && depth == 0) {
                    return;
                }
                depth += skipped.is("{") ? 1 : skipped.is("}") ? -1 : 0;
            } catch (SyntaxException e) {
                problems.accept(e.problem());
            }
        }
    }

    private void metadata() {
        Token mark = words.take();
        words.expect("[");
        Token name = words.expect(Token.Kind.NAME, "metadata");
        if (!name.text().equals("metadata") || !words.peek().is("]")) {
            throw words.failure(mark.place(), "a section of this name is not supported", "#[metadata]", "");
        }
        constants = new MetadataReader(words.file(), words.line(), problems).read(text.substring(words.position()));
    }
}
