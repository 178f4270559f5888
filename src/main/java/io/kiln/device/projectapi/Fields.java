// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

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
