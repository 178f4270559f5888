// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.device.projectapi.ApiMethod.Parameter;
import io.kiln.device.projectapi.ApiMethod.ParameterType;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A well-formed request of any method.
 *
 * @param id a text, a whole number or null
 * @param method name of the method
 * @param params its parameters, unchecked
 */
record ApiRequest(JsonNode id, String method, ObjectNode params) {
    private static final Pattern METHOD = Pattern.compile("[a-zA-Z0-9_]+");

    /**
     * Reads a request.
     *
     * @throws MethodFailure if it is not well-formed; its id is unknown then
     */
    static ApiRequest of(JsonNode node) {
        require(node.isObject(), "request: want dict; got " + ParameterType.of(node));
        JsonNode version = node.path("jsonrpc");
        require(
                Message.VERSION.equals(version.textValue()),
                "request[\"jsonrpc\"]: want \"2.0\"; got " + shown(version));
        JsonNode method = node.path("method");
        require(method.isTextual(), "request[\"method\"]: want str; got " + shown(method));
        require(
                METHOD.matcher(method.textValue()).matches(),
                "request[\"method\"]: should match regex ^[a-zA-Z0-9_]+$; got " + shown(method));
        JsonNode params = node.path("params");
        require(params.isObject(), "request[\"params\"]: want dict; got " + typeOf(params));
        JsonNode id = node.hasNonNull("id") ? node.get("id") : NullNode.getInstance();
        require(
                id.isTextual() || id.isIntegralNumber() || id.isNull(),
                "request[\"id\"]: want str, number, null; got " + shown(id));
        return new ApiRequest(id, method.textValue(), (ObjectNode) params);
    }

    private static void require(boolean holds, String message) {
        if (!holds) {
            throw new MethodFailure(MethodFailure.INVALID_REQUEST, message);
        }
    }

    private static String shown(JsonNode value) {
        return value.isMissingNode() ? "None" : Message.shown(value.toString());
    }

    private static String typeOf(JsonNode value) {
        return value.isMissingNode() ? "NoneType" : ParameterType.of(value);
    }

    /**
     * The method, after checking that all of its parameters are present and of their types.
     *
     * @throws MethodFailure if there is no such method, or the parameters do not match
     */
    ApiMethod checked() {
        ApiMethod called = ApiMethod.of(method)
                .orElseThrow(() -> new MethodFailure(MethodFailure.METHOD_NOT_FOUND, method + ": no such method"));
        for (Parameter parameter : called.parameters()) {
            String what = "method " + method + ": parameter " + parameter.name();
            if (!params.has(parameter.name())) {
                throw new MethodFailure(MethodFailure.INVALID_PARAMS, what + " not given");
            }
            JsonNode value = params.get(parameter.name());
            if (!parameter.type().holds(value)) {
                throw new MethodFailure(
                        MethodFailure.INVALID_PARAMS,
                        what + ": want " + parameter.type().text() + ", got " + ParameterType.of(value));
            }
        }
        List<String> extra = new ArrayList<>();
        params.fieldNames().forEachRemaining(extra::add);
        extra.removeAll(called.parameters().stream().map(Parameter::name).toList());
        if (!extra.isEmpty()) {
            throw new MethodFailure(
                    MethodFailure.INVALID_PARAMS, method + ": extra parameters: " + String.join(", ", extra));
        }
        return called;
    }
}
