// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.kiln.base.Failure;
import io.kiln.base.Problems;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A value of a JSON file together with the keys that lead to it. A missing value or one of a wrong type adds a problem
 * and reads as an empty value, so that reading continues and finds all errors.
 */
record JsonKey(String where, String path, JsonNode node, Problems problems) {
    /** The largest number of bytes that is accepted: far more than any microcontroller has, and too small to overflow. */
    private static final long MOST_BYTES = 1L << 40;

    private static final int SHOWN = 80;

    /** The root of a JSON file. */
    static JsonKey root(String where, JsonNode node, Problems problems) {
        return new JsonKey(where, "", node, problems);
    }

    /** A value of an object; missing if this is not an object, or lacks the key. */
    JsonKey at(String key) {
        return new JsonKey(where, path.isEmpty() ? key : path + "." + key, node.path(key), problems);
    }

    boolean isThere() {
        return !node.isMissingNode();
    }

    /** Whether this is that text; another value is no problem. */
    boolean is(String text) {
        return node.isTextual() && node.textValue().equals(text);
    }

    /** Whether this is a list without items; another value is no problem. */
    boolean isEmptyList() {
        return node.isArray() && node.isEmpty();
    }

    /** The entries of an object in their order. */
    Map<String, JsonKey> entries() {
        Map<String, JsonKey> entries = new LinkedHashMap<>();
        if (node.isObject()) {
            node.properties().forEach(entry -> entries.put(entry.getKey(), at(entry.getKey())));
        } else {
            wrong("an object");
        }
        return entries;
    }

    List<JsonKey> items() {
        List<JsonKey> items = new ArrayList<>();
        if (node.isArray()) {
            for (int i = 0; i < node.size(); i++) {
                items.add(new JsonKey(where, path + "[" + i + "]", node.get(i), problems));
            }
        } else {
            wrong("a list");
        }
        return items;
    }

    /** The first item of a list that must not be empty. */
    JsonKey first() {
        if (node.isArray() && !node.isEmpty()) {
            return items().get(0);
        }
        wrong("a list with at least one item");
        return new JsonKey(where, path + "[0]", MissingNode.getInstance(), new Problems(Failure.ARCHIVE));
    }

    boolean isObject() {
        return node.isObject();
    }

    String text() {
        if (!node.isTextual()) {
            wrong("a text");
        }
        return node.asText("");
    }

    /** A text that matches a pattern; empty if it does not. */
    String text(Pattern form, String expected) {
        String text = text();
        if (node.isTextual() && !form.matcher(text).matches()) {
            wrong(expected);
            return "";
        }
        return text;
    }

    /** A size in bytes. */
    long bytes() {
        boolean isSize = node.isIntegralNumber()
                && node.canConvertToLong()
                && node.longValue() >= 0
                && node.longValue() <= MOST_BYTES;
        if (!isSize) {
            wrong("a number of bytes");
        }
        return isSize ? node.longValue() : 0;
    }

    /** An integer of any size. */
    int number() {
        if (!node.isIntegralNumber() || !node.canConvertToInt()) {
            wrong("a number");
        }
        return node.asInt(0);
    }

    /** Adds a problem: the value is not as expected. */
    void wrong(String expected) {
        wrong(expected, "");
    }

    /** Adds a problem with advice: the value is not as expected. */
    void wrong(String expected, String next) {
        String key = path.isEmpty() ? "the file" : "`" + path + "`";
        problems.add(key + " is " + (isThere() ? shown() : "missing"), where, expected, next);
    }

    private String shown() {
        if (node.isContainerNode() && node.size() > 2) {
            return node.isArray() ? "a list of " + node.size() : "an object with " + node.size() + " keys";
        }
        String text = node.toString();
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "…";
    }
}
