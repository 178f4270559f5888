// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.base.DType;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Parses types: {@code int8}, {@code Tensor[(1, 12), int8]}, and for results a tuple of these. */
final class TypeParser {
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
                throw words.failure(name.place(), "the tensor has too many dimensions", "at most " + MAX_RANK, "");
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
                                + Arrays.stream(DType.values()).map(DType::text).collect(Collectors.joining(", ")),
                        ""));
    }
}
