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
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.NearMiss;
import io.kiln.base.Problems;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A server's description of itself.
 *
 * @param platform name of its platform, such as {@code zephyr}
 * @param isTemplate whether its folder is a template, from which projects are generated
 * @param archive path of the model's archive in a generated project
 * @param options every option of its methods
 */
public record ServerInfo(String platform, boolean isTemplate, Optional<String> archive, List<ProjectOption> options) {
    private static final int PROTOCOL = 1;
    private static final String PARAMETER = "kiln.project.options";

    public ServerInfo {
        options = List.copyOf(options);
    }

    /**
     * Reads the reply to {@code server_info_query}.
     *
     * @throws KilnException if the server speaks another version of the protocol, or its reply is incomplete
     */
    static ServerInfo of(JsonNode node) {
        Fields fields = new Fields("server_info_query", node);
        int protocol = fields.number("protocol_version");
        if (protocol != PROTOCOL) {
            throw Failure.API.exception(
                    "microTVM API Server supports protocol version " + protocol + "; want " + PROTOCOL, "");
        }
        if (!node.path("project_options").isArray()) {
            throw fields.wrong("project_options", "a list of options");
        }
        List<ProjectOption> options = new ArrayList<>();
        node.get("project_options").forEach(option -> options.add(ProjectOption.of(option)));
        String path = "model_library_format_path";
        Optional<String> archive = node.hasNonNull(path)
                ? Optional.of(fields.text(path)).filter(text -> !text.isEmpty())
                : Optional.empty();
        return new ServerInfo(fields.text("platform_name"), fields.flag("is_template"), archive, options);
    }

    /** The reply to {@code server_info_query}. */
    ObjectNode json() {
        ObjectNode node = Message.object()
                .put("platform_name", platform)
                .put("is_template", isTemplate)
                .put("model_library_format_path", archive.orElse(""));
        ArrayNode list = node.putArray("project_options");
        options.forEach(option -> list.add(option.json()));
        return node.put("protocol_version", PROTOCOL);
    }

    /**
     * The options for a method: the user's values in their types, the defaults for the others.
     *
     * @param given the user's values by name
     * @throws KilnException for every name that is unknown, every value of another type, and every option without a
     *     value that the method needs
     */
    ObjectNode values(String method, Map<String, String> given) {
        Problems problems = new Problems(Failure.API);
        List<String> names = options.stream().map(ProjectOption::name).toList();
        given.keySet().stream()
                .filter(name -> !names.contains(name))
                .sorted()
                .forEach(name -> problems.add(
                        "the server has no option " + name,
                        PARAMETER,
                        "one of " + String.join(", ", names),
                        NearMiss.didYouMean(name, names)));
        ObjectNode values = Message.object();
        for (ProjectOption option : options) {
            Optional<String> text = Optional.ofNullable(given.get(option.name()));
            JsonNode value = text.map(option::value)
                    .orElse(Optional.of(option.standard()))
                    .orElse(option.standard());
            values.set(option.name(), value);
            if (text.isPresent() && option.value(text.get()).isEmpty()) {
                problems.add(option.name() + " is '" + text.get() + "'", PARAMETER, option.values(), option.help());
            } else if (value.isNull() && option.required().contains(method)) {
                problems.add(
                        "the option " + option.name() + " has no value, and " + method + " needs one",
                        PARAMETER,
                        option.values(),
                        option.help());
            }
        }
        problems.throwIfAny();
        return values;
    }

    /**
     * Fields of an object that a server sent. Every method throws {@link KilnException} for a field of another type.
     *
     * @param place the object's name, for messages
     */
    record Fields(String place, JsonNode node) {
        private static final double MOST_SECONDS = 1e9;
        private static final double NANOS = 1e9;

        String text(String name) {
            return expect(name, node.path(name).isTextual(), "a text").textValue();
        }

        boolean flag(String name) {
            return expect(name, node.path(name).isBoolean(), "true or false").booleanValue();
        }

        int number(String name) {
            JsonNode field = node.path(name);
            return expect(name, field.isIntegralNumber() && field.canConvertToInt(), "a whole number")
                    .intValue();
        }

        /** A time in seconds, at least 0. */
        Duration seconds(String name) {
            JsonNode field = node.path(name);
            double seconds = field.doubleValue();
            expect(name, field.isNumber() && seconds >= 0 && seconds <= MOST_SECONDS, "a time in seconds");
            return Duration.ofNanos((long) (seconds * NANOS));
        }

        /** A list of texts; empty if the field is null or missing. */
        List<String> texts(String name) {
            if (!node.hasNonNull(name)) {
                return List.of();
            }
            List<String> texts = new ArrayList<>();
            for (JsonNode each : expect(name, node.get(name).isArray(), "a list of texts")) {
                expect(name, each.isTextual(), "a list of texts");
                texts.add(each.textValue());
            }
            return texts;
        }

        private JsonNode expect(String name, boolean holds, String wanted) {
            if (!holds) {
                throw wrong(name, wanted);
            }
            return node.path(name);
        }

        KilnException wrong(String name, String wanted) {
            JsonNode field = node.path(name);
            return Failure.API.exception(
                    "the server's " + name + " is " + (field.isMissingNode() ? "missing" : field.getNodeType()),
                    place,
                    wanted);
        }
    }

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

        /**
         * Values of a project's options, as a client sent them.
         *
         * @param node an object; an option without a value is missing or null
         */
        public record OptionValues(ObjectNode node) {
            public static OptionValues none() {
                return new OptionValues(Message.object());
            }

            /**
             * These values, with those of an earlier request for every option that has none here.
             *
             * @param earlier values of the same options
             */
            public OptionValues orElse(OptionValues earlier) {
                ObjectNode both = earlier.node.deepCopy();
                node.properties().forEach(each -> {
                    if (!each.getValue().isNull()) {
                        both.set(each.getKey(), each.getValue());
                    }
                });
                return new OptionValues(both);
            }

            /** The text of an option; empty if it has no value, or an empty one. */
            public Optional<String> text(String name) {
                return Optional.ofNullable(node.path(name).textValue()).filter(text -> !text.isBlank());
            }

            /** The number of an option; empty if it has no value. */
            public Optional<Long> number(String name) {
                JsonNode value = node.path(name);
                return value.isIntegralNumber() ? Optional.of(value.longValue()) : Optional.empty();
            }

            /** Whether an option is set to true. */
            public boolean flag(String name) {
                return node.path(name).booleanValue();
            }

            /**
             * Checks the values against the options' descriptions.
             *
             * @param method the method that needs some of them
             * @throws KilnException for every value of another type, every one that is not among the choices, and every one that
             *     is missing and needed
             */
            public void check(List<ProjectOption> options, String method) {
                Problems problems = new Problems(Failure.API);
                for (ProjectOption option : options) {
                    JsonNode value = node.path(option.name());
                    boolean isMissing = value.isMissingNode() || value.isNull();
                    if (isMissing && option.required().contains(method)) {
                        problems.add(
                                "the option " + option.name() + " has no value, and " + method + " needs one",
                                "options",
                                option.values(),
                                option.help());
                    } else if (!isMissing && !option.takes(value)) {
                        problems.add(
                                "the option " + option.name() + " is " + value,
                                "options",
                                option.values(),
                                option.help());
                    }
                }
                problems.throwIfAny();
            }
        }
    }
}
