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

/** Reads types: {@code int8}, {@code Tensor[(1, 12), int8]}, and for results a tuple of these. */
final class TypeParser {
    /** No tensor may be larger. */
    private static final long MAX_BYTES = RelayParser.MAX_TENSOR_BYTES;

    private static final int MAX_RANK = 8;

    private final Words words;

    TypeParser(Words words) {
        this.words = words;
    }

    List<TensorType> results() {
        if (!words.takeIf("(")) {
            return List.of(tensor());
        }
        List<TensorType> types = new ArrayList<>();
        while (!words.peek().is(")")) {
            types.add(tensor());
            if (!words.takeIf(",")) {
                break;
            }
        }
        words.expect(")");
        return types;
    }

    TensorType tensor() {
        Token name = words.expect(Token.Kind.NAME, "a type such as Tensor[(1, 12), int8]");
        if (!name.text().equals("Tensor")) {
            return new TensorType(Shape.scalar(), dtype(name));
        }
        words.expect("[");
        words.expect("(");
        List<Integer> dims = new ArrayList<>();
        while (!words.peek().is(")")) {
            dims.add(dimension());
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
        if (type.isLargerThan(MAX_BYTES)) {
            throw words.failure(
                    name.place(), "the tensor " + type.text() + " is too large", "at most " + MAX_BYTES + " bytes", "");
        }
        return type;
    }

    private int dimension() {
        Token token = words.take();
        if (token.is("?") || token.isName("Any")) {
            throw words.failure(
                    token.place(),
                    "a dimension that is known only at run time is not supported",
                    "a number",
                    "Give every dimension a number");
        }
        Optional<NumberLiteral> number =
                token.kind() == Token.Kind.NUMBER ? NumberLiteral.of(token.text()) : Optional.empty();
        return number.map(NumberLiteral::value)
                .filter(n -> n instanceof Long && n.longValue() >= 1 && n.longValue() <= Integer.MAX_VALUE)
                .map(Number::intValue)
                .orElseThrow(() -> words.failure(
                        token.place(), token.shown() + " is no dimension", "a whole number from 1 to 2147483647", ""));
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
