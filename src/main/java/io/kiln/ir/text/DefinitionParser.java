// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.base.Failure;
import io.kiln.base.Problem;
import io.kiln.ir.text.RelaySyntax.Attribute;
import io.kiln.ir.text.RelaySyntax.Definition;
import io.kiln.ir.text.RelaySyntax.Expression;
import io.kiln.ir.text.RelaySyntax.Param;
import io.kiln.ir.text.RelaySyntax.Statement;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Parses one function after its {@code def}. */
final class DefinitionParser {
    private final Words words;
    private final ExpressionParser expressions;
    private final TypeParser types;
    private final Consumer<Problem> problems;
    private final Token name;

    private final List<Param> params = new ArrayList<>();
    private final List<Attribute> attributes = new ArrayList<>();
    private final List<Statement> statements = new ArrayList<>();
    private final List<Expression> results = new ArrayList<>();
    private List<TensorType> resultTypes = List.of();
    private boolean ended;

    DefinitionParser(Words words, Consumer<Problem> problems) {
        this.words = words;
        this.expressions = new ExpressionParser(words);
        this.types = new TypeParser(words);
        this.problems = problems;
        this.name = words.expect(Token.Kind.GLOBAL, "@main");
    }

    /**
     * Parses it.
     *
     * @param found receives it, possibly incomplete after an error from which parsing cannot recover
     * @throws SyntaxException for such an error
     */
    void read(Consumer<Definition> found) {
        try {
            header();
            words.expect("{");
            body();
        } finally {
            found.accept(
                    new Definition(name.text(), name.place(), params, attributes, resultTypes, statements, results));
        }
    }

    private void header() {
        words.expect("(");
        while (!words.peek().is(")")) {
            if (words.peek().kind() == Token.Kind.NAME) {
                attributes.add(expressions.attribute(words.take()));
            } else {
                Token name = words.expect(Token.Kind.LOCAL, "%name: type, or an attribute");
                device();
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
        while (!ended && !words.peek().is("}")) {
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
        if (!ended) {
            problems.accept(Failure.MODEL.problem(
                    name.text() + " has no result",
                    end.place().in(words.file()),
                    "a last line such as %9, or () for none",
                    ""));
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
            result(expressions.expression(0));
            return;
        }
        Token name = words.take();
        device();
        if (let && words.takeIf(":")) {
            types.ofLet();
        }
        if (words.takeIf("=")) {
            Expression value = expressions.expression(0);
            words.expect(";");
            statements.add(new Statement(name.text().substring(1), value, name.place()));
        } else if (let || !(words.peek().is("}") || words.peek().is("."))) {
            throw words.unexpected("`=`");
        } else {
            result(expressions.projected(new RelaySyntax.Local(name.text().substring(1), name.place(), "")));
        }
    }

    /** <code>{virtual_device_=…}</code> after a name, which states where a value lies, not its type. */
    private void device() {
        if (words.peek().is("{")) {
            expressions.skipBrackets();
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
        ended = true;
    }

    private void result(Expression value) {
        results.add(value);
        ended = true;
    }

    /** Skips to the next semicolon, or to the brace that ends the body. */
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
}
