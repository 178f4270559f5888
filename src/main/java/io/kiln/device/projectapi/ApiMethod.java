// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;

/** The methods of the Project API. Each takes all of its parameters, and no others. */
enum ApiMethod {
    SERVER_INFO_QUERY(new Parameter("tvm_version", Type.STR)),
    GENERATE_PROJECT(
            new Parameter("model_library_format_path", Type.STR),
            new Parameter("standalone_crt_dir", Type.STR),
            new Parameter("project_dir", Type.STR),
            new Parameter("options", Type.DICT)),
    BUILD(new Parameter("options", Type.DICT)),
    FLASH(new Parameter("options", Type.DICT)),
    OPEN_TRANSPORT(new Parameter("options", Type.DICT)),
    CLOSE_TRANSPORT(),
    READ_TRANSPORT(new Parameter("n", Type.INT), new Parameter("timeout_sec", Type.SECONDS)),
    WRITE_TRANSPORT(new Parameter("data", Type.STR), new Parameter("timeout_sec", Type.SECONDS));

    /** Types of parameters, by the names of Python's types. */
    enum Type {
        STR("str", JsonNode::isTextual),
        INT("int", JsonNode::isIntegralNumber),
        DICT("dict", JsonNode::isObject),
        SECONDS("float or None", value -> value.isNumber() || value.isNull());

        private final String text;
        private final Predicate<JsonNode> test;

        Type(String text, Predicate<JsonNode> test) {
            this.text = text;
            this.test = test;
        }

        String text() {
            return text;
        }

        boolean holds(JsonNode value) {
            return test.test(value);
        }

        /** The name of a value's type. */
        static String of(JsonNode value) {
            return switch (value.getNodeType()) {
                case STRING -> "str";
                case BOOLEAN -> "bool";
                case NUMBER -> value.isIntegralNumber() ? "int" : "float";
                case ARRAY -> "list";
                case NULL -> "NoneType";
                default -> "dict";
            };
        }
    }

    /** A parameter. */
    record Parameter(String name, Type type) {}

    private final List<Parameter> parameters;

    ApiMethod(Parameter... parameters) {
        this.parameters = List.of(parameters);
    }

    List<Parameter> parameters() {
        return parameters;
    }

    /** The name in requests. */
    String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The method of a name; empty if there is none. */
    static Optional<ApiMethod> of(String text) {
        return Arrays.stream(values())
                .filter(method -> method.text().equals(text))
                .findFirst();
    }
}
