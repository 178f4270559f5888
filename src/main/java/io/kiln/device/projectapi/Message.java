// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Printable;
import java.util.Optional;

/** JSON-RPC 2.0 as the Project API uses it: one object on each line, requests with an id, one reply to each. */
final class Message {
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .build();
    /** The version that every message states. */
    static final String VERSION = "2.0";

    private static final int MOST_SHOWN = 200;

    private Message() {}

    static ObjectNode object() {
        return JSON.createObjectNode();
    }

    /**
     * A request's line, without its line feed.
     *
     * @param id number of the request, from 1
     */
    static String request(String method, JsonNode params, int id) {
        ObjectNode request = object();
        request.put("jsonrpc", VERSION).put("method", method);
        request.set("params", params);
        request.put("id", id);
        return request.toString();
    }

    /** The line of a reply, without its line feed. */
    static String reply(JsonNode id, JsonNode result) {
        ObjectNode reply = object().put("jsonrpc", VERSION);
        reply.set("id", id);
        reply.set("result", result);
        return reply.toString();
    }

    /** The line of a reply that reports a failure, without its line feed. */
    static String error(JsonNode id, MethodFailure failure, JsonNode data) {
        ObjectNode reply = object().put("jsonrpc", VERSION);
        reply.set("id", id);
        reply.putObject("error")
                .put("code", failure.code())
                .put("message", failure.reported())
                .set("data", data);
        return reply.toString();
    }

    /** The value on a line; empty if it is not JSON. */
    static Optional<JsonNode> read(String line) {
        try {
            return Optional.of(JSON.readTree(line)).filter(node -> !node.isMissingNode());
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
    }

    /**
     * The result in a reply.
     *
     * @param line the reply
     * @param id id of the request
     * @throws MethodFailure if the server reports an error
     * @throws KilnException if the line is not a reply to this request
     */
    static JsonNode result(String line, int id) {
        JsonNode reply = parsed(line);
        if (!reply.isObject()
                || !reply.path("jsonrpc").isTextual()
                || !VERSION.equals(reply.path("jsonrpc").textValue())) {
            throw malformed("the answer is not a JSON-RPC 2.0 reply: " + shown(line));
        }
        boolean failed = reply.hasNonNull("error");
        JsonNode answered = reply.path("id");
        // A server that could not read a request reports it with id null.
        if (!isNumber(answered, id) && !(failed && answered.isNull())) {
            String found = answered.isMissingNode() ? "no id" : "the id " + shown(answered.toString());
            throw malformed("the answer has " + found + " instead of " + id);
        }
        if (failed) {
            throw failure(reply.get("error"), line);
        }
        if (!reply.has("result")) {
            throw malformed("the answer has neither a result nor an error: " + shown(line));
        }
        return reply.get("result");
    }

    private static JsonNode parsed(String line) {
        try {
            return JSON.readTree(line);
        } catch (JsonProcessingException e) {
            KilnException failure = malformed("the answer is not JSON: " + shown(line));
            failure.initCause(e);
            throw failure;
        }
    }

    private static boolean isNumber(JsonNode node, int value) {
        return node.isIntegralNumber() && node.canConvertToInt() && node.intValue() == value;
    }

    private static RuntimeException failure(JsonNode error, String line) {
        JsonNode code = error.path("code");
        if (!code.isIntegralNumber()
                || !code.canConvertToInt()
                || !error.path("message").isTextual()) {
            return malformed("the answer's error has no code and message: " + shown(line));
        }
        Optional<String> traceback =
                Optional.ofNullable(error.path("data").path("traceback").textValue());
        return new MethodFailure(code.intValue(), error.path("message").textValue(), traceback);
    }

    static KilnException malformed(String what) {
        return Failure.API.exception(
                what,
                "",
                "one line of JSON for each request, and nothing else",
                "The server's logs belong to its standard error");
    }

    /** The beginning of a text, printable on one line. */
    static String shown(String text) {
        String line = Printable.line(text);
        return line.length() <= MOST_SHOWN ? line : line.substring(0, MOST_SHOWN) + "...";
    }
}
