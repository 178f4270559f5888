// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.kiln.base.KilnException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * An option of a project, as its server describes it.
 *
 * @param choices the values allowed; empty if all are
 * @param standard the default, a JSON value of its type, or JSON's null if there is none
 * @param type the values' type
 * @param required names of the methods that need a value
 * @param optional names of the methods that take a value
 * @param help what it means, for people
 */
public record ProjectOption(
        String name,
        List<String> choices,
        JsonNode standard,
        Type type,
        Set<String> required,
        Set<String> optional,
        String help) {
    /** Types of options, by the names of Python's types. */
    public enum Type {
        /** Any text. */
        STR,
        /** A whole number of at most 64 bits. */
        INT,
        /** {@code true} or {@code false}. */
        BOOL
    }

    public ProjectOption {
        choices = List.copyOf(choices);
        required = Set.copyOf(required);
        optional = Set.copyOf(optional);
    }

    /**
     * Reads a server's description.
     *
     * @throws KilnException if it is incomplete
     */
    static ProjectOption of(JsonNode node) {
        Fields fields = new Fields("option", node);
        String name = fields.text("name");
        Fields named = new Fields("option " + name, node);
        ProjectOption option = new ProjectOption(
                name,
                named.texts("choices"),
                node.hasNonNull("default") ? node.get("default") : NullNode.getInstance(),
                type(named),
                Set.copyOf(named.texts("required")),
                Set.copyOf(named.texts("optional")),
                named.text("help"));
        if (option.required.isEmpty() && option.optional.isEmpty()) {
            throw named.wrong("required or optional", "a list of methods");
        }
        if (!option.standard.isNull() && !option.isOfType(option.standard)) {
            throw named.wrong("default", "a value of type " + named.text("type"));
        }
        return option;
    }

    /** The option's description as a server sends it. */
    ObjectNode json() {
        ObjectNode node = Message.object().put("name", name);
        node.set("choices", list(choices));
        node.set("default", standard);
        node.put("type", type.name().toLowerCase(Locale.ROOT));
        node.set("required", list(sorted(required)));
        node.set("optional", list(sorted(optional)));
        return node.put("help", help);
    }

    /** Sorts texts, so that replies are the same on every run. */
    private static List<String> sorted(Set<String> texts) {
        return texts.stream().sorted().toList();
    }

    /** A list of texts; null if it is empty. */
    private static JsonNode list(List<String> texts) {
        if (texts.isEmpty()) {
            return NullNode.getInstance();
        }
        ArrayNode list = JsonNodeFactory.instance.arrayNode();
        texts.forEach(list::add);
        return list;
    }

    /** Whether this option accepts a client's value. */
    boolean takes(JsonNode value) {
        return isOfType(value) && (choices.isEmpty() || choices.contains(value.asText()));
    }

    private static Type type(Fields fields) {
        return switch (fields.text("type")) {
            case "str" -> Type.STR;
            case "int" -> Type.INT;
            case "bool" -> Type.BOOL;
            default -> throw fields.wrong("type", "str, int or bool");
        };
    }

    private boolean isOfType(JsonNode value) {
        return switch (type) {
            case STR -> value.isTextual();
            case INT -> value.isIntegralNumber();
            case BOOL -> value.isBoolean();
        };
    }

    /** A user's value in the option's type; empty if the option does not accept it. */
    Optional<JsonNode> value(String text) {
        if (!choices.isEmpty() && !choices.contains(text)) {
            return Optional.empty();
        }
        return switch (type) {
            case STR -> Optional.of(TextNode.valueOf(text));
            case INT -> number(text);
            case BOOL ->
                text.equals("true") || text.equals("false")
                        ? Optional.of(BooleanNode.valueOf(text.equals("true")))
                        : Optional.empty();
        };
    }

    private static Optional<JsonNode> number(String text) {
        try {
            return Optional.of(LongNode.valueOf(Long.parseLong(text)));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** The values it takes, for a message. */
    String values() {
        if (!choices.isEmpty()) {
            return "one of " + String.join(", ", choices);
        }
        return switch (type) {
            case STR -> "a text";
            case INT -> "a whole number";
            case BOOL -> "true or false";
        };
    }
}
