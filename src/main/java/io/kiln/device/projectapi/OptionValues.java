// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import java.util.List;
import java.util.Optional;

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
                problems.add("the option " + option.name() + " is " + value, "options", option.values(), option.help());
            }
        }
        problems.throwIfAny();
    }
}
