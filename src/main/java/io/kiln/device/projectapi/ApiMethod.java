// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The methods of the Project API. Each takes all of its parameters, and no others. */
enum ApiMethod {
    SERVER_INFO_QUERY,
    GENERATE_PROJECT,
    BUILD,
    FLASH,
    OPEN_TRANSPORT,
    CLOSE_TRANSPORT,
    READ_TRANSPORT,
    WRITE_TRANSPORT;

    private static final Parameter OPTIONS = new Parameter("options", ParameterType.DICT);
    private static final Parameter TIMEOUT = new Parameter("timeout_sec", ParameterType.SECONDS);

    /** Types of parameters. */
    enum ParameterType {
        STR,
        INT,
        DICT,
        SECONDS;

        /** The name, of Python's types. */
        String text() {
            return switch (this) {
                case STR -> "str";
                case INT -> "int";
                case DICT -> "dict";
                case SECONDS -> "float or None";
            };
        }

        boolean holds(JsonNode value) {
            return switch (this) {
                case STR -> value.isTextual();
                case INT -> value.isIntegralNumber();
                case DICT -> value.isObject();
                case SECONDS -> value.isNumber() || value.isNull();
            };
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
    record Parameter(String name, ParameterType type) {}

    List<Parameter> parameters() {
        return switch (this) {
            case SERVER_INFO_QUERY -> List.of(new Parameter("tvm_version", ParameterType.STR));
            case GENERATE_PROJECT ->
                List.of(
                        new Parameter("model_library_format_path", ParameterType.STR),
                        new Parameter("standalone_crt_dir", ParameterType.STR),
                        new Parameter("project_dir", ParameterType.STR),
                        OPTIONS);
            case BUILD, FLASH, OPEN_TRANSPORT -> List.of(OPTIONS);
            case CLOSE_TRANSPORT -> List.of();
            case READ_TRANSPORT -> List.of(new Parameter("n", ParameterType.INT), TIMEOUT);
            case WRITE_TRANSPORT -> List.of(new Parameter("data", ParameterType.STR), TIMEOUT);
        };
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
