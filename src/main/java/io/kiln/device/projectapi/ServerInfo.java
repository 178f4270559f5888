// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.NearMiss;
import io.kiln.base.Problems;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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
}
