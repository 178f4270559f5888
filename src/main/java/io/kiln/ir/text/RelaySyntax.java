// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.base.DType;
import io.kiln.ir.Constant;
import io.kiln.ir.Origin;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The syntax tree of Relay text, before names and operators are resolved. */
public final class RelaySyntax {
    /** What TVM's printer calls the attributes of an operator that it does not know. */
    public static final String DICTIONARY = "__dict__";

    private RelaySyntax() {}

    /**
     * The whole text.
     *
     * @param definitions the functions, in order
     * @param metadata what the metadata section holds
     */
    public record Module(List<Definition> definitions, Metadata metadata) {
        public Module {
            definitions = List.copyOf(definitions);
        }
    }

    /**
     * What the metadata section holds, by kind and index.
     *
     * @param constants the constants, without names
     * @param boxes the values of attributes by their kind, such as {@code runtime.BoxInt}: Long, Double, Boolean, or a Map of values by name
     */
    public record Metadata(List<Constant> constants, Map<String, List<Object>> boxes) {
        public static final Metadata NONE = new Metadata(List.of(), Map.of());

        public Metadata {
            constants = List.copyOf(constants);
            boxes = Map.copyOf(boxes);
        }
    }

    /**
     * The definition of a function.
     *
     * @param name name with its mark, such as {@code @main}
     * @param place place of the name
     * @param params its parameters
     * @param attributes its attributes
     * @param resultTypes the types after {@code ->}; empty if missing, or if dimensions are open
     * @param statements the statements in order
     * @param results the values of the last line, one or the elements of a tuple
     */
    public record Definition(
            String name,
            Place place,
            List<Param> params,
            List<Attribute> attributes,
            List<TensorType> resultTypes,
            List<Statement> statements,
            List<Expression> results) {
        public Definition {
            params = List.copyOf(params);
            attributes = List.copyOf(attributes);
            resultTypes = List.copyOf(resultTypes);
            statements = List.copyOf(statements);
            results = List.copyOf(results);
        }
    }

    /**
     * {@code %name: type}; the name without its mark.
     *
     * @param type the type, with 1 for open dimensions
     * @param open indices of the open dimensions, written {@code ?}
     */
    public record Param(String name, TensorType type, List<Integer> open, Place place) {
        public Param {
            open = List.copyOf(open);
        }
    }

    /** {@code @name}, with its mark. */
    public record Global(String name, Place place) {}

    /**
     * {@code name=value}; the value is a Long, Double, Boolean, String, {@link Global}, {@link Boxed}, {@link Opaque} or a List of these,
     * or an empty Optional for {@code None}.
     */
    public record Attribute(String name, Object value, Place place) {}

    /** {@code meta[runtime.BoxInt][index]}: a value in the metadata section, as TVM 0.18 prints some. */
    public record Boxed(String kind, int index, Place place) {}

    /** An attribute value that no operator of Kiln reads: metadata, dictionaries, devices. */
    public record Opaque(Place place) {}

    /** {@code %name = value;}. */
    public record Statement(String name, Expression value, Place place) {}

    /** A value. */
    public sealed interface Expression permits Call, Local, Meta, Literal, Tuple, Projection {
        Place place();

        /** The comment after it, without its marks; empty if there is none. */
        String comment();
    }

    /** {@code nn.conv2d(%x, …, strides=[1, 1])}. */
    public record Call(String operator, List<Expression> args, List<Attribute> attributes, Place place, String comment)
            implements Expression {
        public Call {
            args = List.copyOf(args);
            attributes = List.copyOf(attributes);
        }
    }

    /** {@code (%x, %y)}. */
    public record Tuple(List<Expression> elements, Place place, String comment) implements Expression {
        public Tuple {
            elements = List.copyOf(elements);
        }
    }

    /** {@code tuple.index}: an element. */
    public record Projection(Expression tuple, int index, Place place, String comment) implements Expression {}

    /** {@code %x}. */
    public record Local(String name, Place place, String comment) implements Expression {}

    /** {@code meta[relay.Constant][index]}. */
    public record Meta(int index, Place place, String comment) implements Expression {}

    /** A scalar: the bits of a float32, or an integer. */
    public record Literal(DType dtype, Number value, Place place, String comment) implements Expression {}

    /** Comments of {@link RelayPrinter}: origins of operators, and names of constants. */
    public static final class Annotations {
        private static final String SPAN = " span=";
        private static final String NAME = "name=";

        private Annotations() {}

        /** The origin in {@code ty=… span="file":3:CONV_2D:"tensor"}; empty for any other comment. */
        public static Optional<Origin> origin(String comment) {
            int span = comment.indexOf(SPAN);
            if (!comment.startsWith("ty=") || span < 0) {
                return Optional.empty();
            }
            StringBuilder file = new StringBuilder();
            int fileEnd = quoted(comment, span + SPAN.length(), file);
            int indexEnd = fileEnd < 0 ? -1 : comment.indexOf(':', fileEnd + 1);
            // The tensor's name contains this mark only with its quote escaped; the operator's name cannot contain it.
            int operatorEnd = indexEnd < 0 ? -1 : comment.indexOf(":\"", indexEnd + 1);
            if (operatorEnd < 0 || comment.charAt(fileEnd) != ':') {
                return Optional.empty();
            }
            StringBuilder tensor = new StringBuilder();
            if (quoted(comment, operatorEnd + 1, tensor) != comment.length()) {
                return Optional.empty();
            }
            String index = comment.substring(fileEnd + 1, indexEnd);
            return index.matches("[0-9]{1,9}")
                    ? Optional.of(new Origin(
                            file.toString(),
                            Integer.parseInt(index),
                            comment.substring(indexEnd + 1, operatorEnd),
                            tensor.toString()))
                    : Optional.empty();
        }

        /** The name in {@code name="conv/weights"}, also after {@code ty=…}; empty for any other comment. */
        public static Optional<String> name(String comment) {
            int type = comment.startsWith("ty=") ? comment.indexOf(" " + NAME) + 1 : 0;
            StringBuilder name = new StringBuilder();
            boolean isName =
                    comment.startsWith(NAME, type) && quoted(comment, type + NAME.length(), name) == comment.length();
            return isName ? Optional.of(name.toString()) : Optional.empty();
        }

        private static int quoted(String comment, int at, StringBuilder value) {
            return at < comment.length() && comment.charAt(at) == '"' ? Literals.unquote(comment, at, value) : -1;
        }
    }
}
