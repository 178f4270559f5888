// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.base.DType;
import io.kiln.ir.text.MetadataReader.MetadataSection;
import io.kiln.ir.text.RelaySyntax.Attribute;
import io.kiln.ir.text.RelaySyntax.Boxed;
import io.kiln.ir.text.RelaySyntax.Call;
import io.kiln.ir.text.RelaySyntax.Expression;
import io.kiln.ir.text.RelaySyntax.Global;
import io.kiln.ir.text.RelaySyntax.Literal;
import io.kiln.ir.text.RelaySyntax.Local;
import io.kiln.ir.text.RelaySyntax.Meta;
import io.kiln.ir.text.RelaySyntax.Opaque;
import io.kiln.ir.text.RelaySyntax.Projection;
import io.kiln.ir.text.RelaySyntax.Tuple;
import io.kiln.ir.text.Words.NumberLiteral;
import io.kiln.ir.text.Words.Token;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Parses values: calls, names, literals, metadata; and values of attributes. */
final class ExpressionParser {
    /** Limit of nesting, so that no text can exhaust the stack. */
    static final int MAX_DEPTH = 100;

    private static final Set<String> NOT_SUPPORTED = Set.of("fn", "if", "else", "match", "let");
    private static final String FLATTEN = "Flatten the model to one line for each operator call";

    private static final String A_VALUE = "a value: %name, a call, a number or meta[relay.Constant][n]";

    private final Words words;

    ExpressionParser(Words words) {
        this.words = words;
    }

    Expression expression(int depth) {
        checkDepth(depth);
        Token token = words.peek();
        Expression value = switch (token.kind()) {
            case LOCAL -> {
                words.take();
                yield new Local(token.text().substring(1), token.place(), comment());
            }
            case NUMBER -> literal();
            case NAME -> named(depth);
            case SYMBOL -> tuple(depth);
            case GLOBAL ->
                throw words.failure(
                        token.place(),
                        "a call of " + token.shown() + " is not supported",
                        "functions as attributes of tfl.if and tfl.while",
                        FLATTEN);
            default -> throw words.unexpected(A_VALUE);
        };
        return projected(value);
    }

    /** The value, or its element if {@code .index} follows. */
    Expression projected(Expression value) {
        Expression element = value;
        while (words.takeIf(".")) {
            element = new Projection(element, index(), value.place(), comment());
        }
        return element;
    }

    /** {@code (x, y)}, {@code (x,)}, or {@code (x)}, which is x. */
    private Expression tuple(int depth) {
        if (!words.peek().is("(")) {
            throw words.unexpected(A_VALUE);
        }
        Token open = words.take();
        List<Expression> elements = new ArrayList<>();
        boolean isTuple = words.peek().is(")");
        while (!words.peek().is(")")) {
            elements.add(expression(depth + 1));
            if (!words.takeIf(",")) {
                break;
            }
            isTuple = true;
        }
        words.expect(")");
        return isTuple ? new Tuple(elements, open.place(), comment()) : elements.get(0);
    }

    private int index() {
        Token token = words.expect(Token.Kind.NUMBER, "an index");
        Number index = number(token).value();
        if (!(index instanceof Long) || index.longValue() < 0 || index.longValue() > Integer.MAX_VALUE) {
            throw words.failure(token.place(), token.shown() + " is not an index", "a whole number from 0", "");
        }
        return index.intValue();
    }

    /** {@code = value} of an attribute whose name is already read. */
    Attribute attribute(Token name) {
        words.expect("=");
        return new Attribute(name.text(), attributeValue(0), name.place());
    }

    private Expression literal() {
        Token token = words.take();
        NumberLiteral number = number(token);
        DType dtype = number.dtype()
                .orElseThrow(() -> words.failure(
                        token.place(), token.shown() + " is of a type that is not supported", "32 bits", ""));
        return new Literal(dtype, number.value(), token.place(), comment());
    }

    private Expression named(int depth) {
        Token name = words.take();
        if (name.text().equals("True") || name.text().equals("False")) {
            return new Literal(DType.BOOL, name.text().equals("True") ? 1L : 0L, name.place(), comment());
        }
        if (name.text().equals("meta")) {
            return meta(name);
        }
        if (NOT_SUPPORTED.contains(name.text())) {
            throw words.failure(name.place(), name.shown() + " is not supported", "operator calls", FLATTEN);
        }
        return call(name, depth);
    }

    private Expression meta(Token meta) {
        words.expect("[");
        Token key = words.expect(Token.Kind.NAME, "relay.Constant");
        if (!key.text().equals(MetadataSection.CONSTANT)) {
            throw words.failure(
                    key.place(), "metadata " + key.shown() + " is not supported", MetadataSection.CONSTANT, "");
        }
        words.expect("]");
        words.expect("[");
        int index = index();
        words.expect("]");
        return new Meta(index, meta.place(), comment());
    }

    private Expression call(Token operator, int depth) {
        words.expect("(");
        List<Expression> args = new ArrayList<>();
        List<Attribute> attributes = new ArrayList<>();
        while (!words.peek().is(")")) {
            argument(depth, args, attributes);
            if (!words.takeIf(",")) {
                break;
            }
        }
        words.expect(")");
        return new Call(operator.text(), args, attributes, operator.place(), comment());
    }

    /** A name may begin an attribute or a call, depending on what follows. */
    private void argument(int depth, List<Expression> args, List<Attribute> attributes) {
        if (words.peek().kind() != Token.Kind.NAME || isKeyword(words.peek())) {
            args.add(expression(depth + 1));
            return;
        }
        checkDepth(depth + 1);
        Token name = words.take();
        if (words.peek().is("=") && name.text().equals(RelaySyntax.DICTIONARY)) {
            words.expect("=");
            attributes.addAll(
                    words.peek().is("{")
                            ? dictionary(depth)
                            : List.of(new Attribute(name.text(), attributeValue(depth), name.place())));
        } else if (words.peek().is("=")) {
            attributes.add(attribute(name));
        } else {
            args.add(projected(call(name, depth + 1)));
        }
    }

    /** <code>{"axis"=1, "rounding"="TFLITE"}</code>: the attributes of an operator that TVM does not know. */
    private List<Attribute> dictionary(int depth) {
        List<Attribute> attributes = new ArrayList<>();
        words.expect("{");
        while (!words.peek().is("}")) {
            Token name = words.expect(Token.Kind.STRING, "the name of an attribute in quotes");
            words.expect("=");
            attributes.add(new Attribute(name.text(), attributeValue(depth), name.place()));
            if (!words.takeIf(",")) {
                break;
            }
        }
        words.expect("}");
        return attributes;
    }

    private static boolean isKeyword(Token name) {
        return NOT_SUPPORTED.contains(name.text())
                || Set.of("meta", "True", "False").contains(name.text());
    }

    private Object attributeValue(int depth) {
        checkDepth(depth);
        Token token = words.peek();
        if (token.is("[") || token.is("(")) {
            return list(token.is("[") ? "]" : ")", depth);
        }
        return switch (token.kind()) {
            case NUMBER -> number(words.take()).value();
            case STRING -> words.take().text();
            case NAME -> word();
            case GLOBAL -> new Global(words.take().text(), token.place());
            default -> opaque("a number, a string, True, False, @name or a list");
        };
    }

    private Object word() {
        Token name = words.peek();
        return switch (name.text()) {
            case "None", "nullptr" -> {
                words.take();
                yield Optional.empty();
            }
            case "True", "False" -> words.take().text().equals("True");
            case "meta" -> boxed();
            default -> {
                words.take();
                if (!isOpening(words.peek())) {
                    throw words.failure(
                            name.place(),
                            name.shown() + " is not expected here",
                            "a number, a string, True, False, None or a list",
                            "");
                }
                yield opaque("");
            }
        };
    }

    /** {@code meta[runtime.BoxInt][0]}, or metadata of another kind, which no operator of Kiln reads. */
    private Object boxed() {
        Place place = words.take().place();
        words.expect("[");
        Token kind = words.expect(Token.Kind.NAME, "a kind of metadata");
        words.expect("]");
        words.expect("[");
        int index = index();
        words.expect("]");
        return MetadataSection.BOXES.contains(kind.text()) ? new Boxed(kind.text(), index, place) : new Opaque(place);
    }

    /** {@code Executor[0]}, {@code VirtualDevice(…)} or <code>{…}</code>: everything between its brackets. */
    private Object opaque(String expected) {
        Place place = words.peek().place();
        if (!isOpening(words.peek())) {
            throw words.unexpected(expected);
        }
        while (isOpening(words.peek())) {
            skipBrackets();
        }
        return new Opaque(place);
    }

    private static boolean isOpening(Token token) {
        return token.is("(") || token.is("[") || token.is("{");
    }

    /** Moves past the bracket that closes the current one. */
    void skipBrackets() {
        int depth = 0;
        do {
            Token token = words.take();
            if (token.kind() == Token.Kind.END) {
                throw words.unexpected("a closing bracket");
            }
            depth += isOpening(token) ? 1 : token.is(")") || token.is("]") || token.is("}") ? -1 : 0;
        } while (depth > 0);
    }

    private List<Object> list(String end, int depth) {
        words.take();
        List<Object> items = new ArrayList<>();
        while (!words.peek().is(end)) {
            items.add(attributeValue(depth + 1));
            if (!words.takeIf(",")) {
                break;
            }
        }
        words.expect(end);
        return List.copyOf(items);
    }

    private NumberLiteral number(Token token) {
        return NumberLiteral.of(token.text())
                .orElseThrow(() -> words.failure(
                        token.place(),
                        token.shown() + " is not a number of its type",
                        "such as 1, 1i8, 0.5f or 1e-3f64, within the range",
                        ""));
    }

    private String comment() {
        return words.peek().comment();
    }

    private void checkDepth(int depth) {
        if (depth > MAX_DEPTH) {
            throw words.failure(
                    words.peek().place(),
                    "the text is nested more than " + MAX_DEPTH + " deep",
                    "one line for each operator call",
                    FLATTEN);
        }
    }
}
