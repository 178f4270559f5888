// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.Problem;
import io.kiln.ir.text.RelaySyntax.Attribute;
import io.kiln.ir.text.RelaySyntax.Definition;
import io.kiln.ir.text.RelaySyntax.Expression;
import io.kiln.ir.text.RelaySyntax.Metadata;
import io.kiln.ir.text.RelaySyntax.Module;
import io.kiln.ir.text.RelaySyntax.Param;
import io.kiln.ir.text.RelaySyntax.Statement;
import io.kiln.ir.text.Words.NumberLiteral;
import io.kiln.ir.text.Words.SyntaxException;
import io.kiln.ir.text.Words.Token;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Parses Relay text 0.0.5, as printed by {@link RelayPrinter} and TVM: the version (optional), functions, and a
 * metadata section. After an error it continues with the next statement, so that all errors are found. Text of any size
 * and depth is parsed in linear time and without deep recursion.
 */
public final class RelayParser {
    private static final String VERSION = "0.0.5";

    private final String text;
    private final Words words;
    private final Consumer<Problem> problems;

    private final List<Definition> definitions = new ArrayList<>();
    private Metadata metadata = Metadata.NONE;

    private RelayParser(String text, String file, Consumer<Problem> problems) {
        this.text = text;
        this.words = new Words(file, text);
        this.problems = problems;
    }

    /**
     * Parses a text.
     *
     * @param text the whole text
     * @param file its name in messages
     * @param problems receives every error, in order; after any, the result is incomplete
     */
    public static Module parse(String text, String file, Consumer<Problem> problems) {
        RelayParser parser = new RelayParser(text, file, problems);
        try {
            parser.module();
        } catch (SyntaxException e) {
            problems.accept(e.problem());
        }
        return new Module(parser.definitions, parser.metadata);
    }

    private void module() {
        words.take();
        if (words.peek().is("#")) {
            version();
        }
        if (!words.peek().isName("def")) {
            throw words.unexpected("def @main");
        }
        while (words.peek().isName("def")) {
            words.take();
            new DefinitionParser(words, problems).read(definitions::add);
        }
        if (words.peek().is("#")) {
            metadata();
        } else if (words.peek().kind() != Token.Kind.END) {
            throw words.unexpected("def, #[metadata] or the end of the text");
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

    private void metadata() {
        Token mark = words.take();
        words.expect("[");
        Token name = words.expect(Token.Kind.NAME, "metadata");
        if (!name.text().equals("metadata") || !words.peek().is("]")) {
            throw words.failure(mark.place(), "a section of this name is not supported", "#[metadata]", "");
        }
        metadata = new MetadataReader(words.file(), words.line(), problems).read(text.substring(words.position()));
    }

    /** Parses one function after its {@code def}. */
    private static final class DefinitionParser {
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
                found.accept(new Definition(
                        name.text(), name.place(), params, attributes, resultTypes, statements, results));
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

        /** Parses types: {@code int8}, {@code Tensor[(1, 12), int8]}, and for results a tuple of these. */
        private static final class TypeParser {
            private static final int MAX_RANK = 8;

            private final Words words;
            private List<Integer> open = List.of();

            TypeParser(Words words) {
                this.words = words;
            }

            /** One type or a tuple of types; empty if a dimension is open. */
            List<TensorType> results() {
                if (!words.takeIf("(")) {
                    TensorType type = tensor();
                    return open.isEmpty() ? List.of(type) : List.of();
                }
                List<TensorType> types = new ArrayList<>();
                boolean isOpen = false;
                while (!words.peek().is(")")) {
                    types.add(tensor());
                    isOpen |= !open.isEmpty();
                    if (!words.takeIf(",")) {
                        break;
                    }
                }
                words.expect(")");
                return isOpen ? List.of() : types;
            }

            /** The open dimensions of the last tensor. */
            List<Integer> open() {
                return open;
            }

            /** Skips the type of a value, or {@code ref(type)} of a variable. */
            void ofLet() {
                if (words.peek().isName("ref")) {
                    words.take();
                    words.expect("(");
                    tensor();
                    words.expect(")");
                } else {
                    results();
                }
            }

            /** One type, with 1 for every open dimension. */
            TensorType tensor() {
                List<Integer> unknown = new ArrayList<>();
                open = List.of();
                Token name = words.expect(Token.Kind.NAME, "a type such as Tensor[(1, 12), int8]");
                if (!name.text().equals("Tensor")) {
                    return new TensorType(Shape.scalar(), dtype(name));
                }
                words.expect("[");
                words.expect("(");
                List<Integer> dims = new ArrayList<>();
                while (!words.peek().is(")")) {
                    if (words.peek().is("?") || words.peek().isName("Any")) {
                        words.take();
                        unknown.add(dims.size());
                        dims.add(1);
                    } else {
                        dims.add(dimension());
                    }
                    if (dims.size() > MAX_RANK) {
                        throw words.failure(
                                name.place(), "the tensor has too many dimensions", "at most " + MAX_RANK, "");
                    }
                    if (!words.takeIf(",")) {
                        break;
                    }
                }
                words.expect(")");
                words.expect(",");
                DType dtype = dtype(words.expect(Token.Kind.NAME, "an element type"));
                words.expect("]");
                TensorType type = new TensorType(new Shape(dims), dtype);
                open = List.copyOf(unknown);
                if (type.isLargerThan(TensorType.MAX_BYTES)) {
                    throw words.failure(
                            name.place(),
                            "the tensor " + type.text() + " is too large",
                            "at most " + TensorType.MAX_BYTES + " bytes",
                            "");
                }
                return type;
            }

            private int dimension() {
                Token token = words.take();
                Optional<NumberLiteral> number =
                        token.kind() == Token.Kind.NUMBER ? NumberLiteral.of(token.text()) : Optional.empty();
                return number.map(NumberLiteral::value)
                        .filter(n -> n instanceof Long && n.longValue() >= 1 && n.longValue() <= Integer.MAX_VALUE)
                        .map(Number::intValue)
                        .orElseThrow(() -> words.failure(
                                token.place(),
                                token.shown() + " is not a dimension",
                                "a whole number from 1 to 2147483647",
                                ""));
            }

            private DType dtype(Token name) {
                return Arrays.stream(DType.values())
                        .filter(t -> t.text().equals(name.text()))
                        .findFirst()
                        .orElseThrow(() -> words.failure(
                                name.place(),
                                "the element type " + name.shown() + " is not supported",
                                "one of "
                                        + Arrays.stream(DType.values())
                                                .map(DType::text)
                                                .collect(Collectors.joining(", ")),
                                ""));
            }
        }
    }
}
