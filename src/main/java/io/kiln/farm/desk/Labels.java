// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.desk;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Labels of a worker, such as {@code silicon=real,room=3}, or those that a job needs; there a {@code *} stands for any characters.
 *
 * @param values by name
 */
public record Labels(Map<String, String> values) {
    public static final Labels NONE = new Labels(Map.of());

    /** The label that says whether a board is {@code real}, {@code virtual} or, in an emulator, {@code none}. */
    public static final String SILICON = "silicon";

    private static final Pattern LABEL = Pattern.compile("([a-z][a-z0-9-]{0,19})=([A-Za-z0-9._*-]{1,40})");
    private static final int MOST = 4;

    public Labels {
        values = Map.copyOf(values);
    }

    /**
     * Reads labels that are separated by commas.
     *
     * @param parameter where the text is from
     * @throws KilnException if they are not labels, or more than four
     */
    public static Labels parse(String parameter, String text) {
        Map<String, String> found = new TreeMap<>();
        for (String each : text.isBlank() ? new String[0] : text.split(",", -1)) {
            Matcher label = LABEL.matcher(each.strip());
            if (!label.matches() || found.put(label.group(1), label.group(2)) != null || found.size() > MOST) {
                throw Failure.FARM.exception(
                        "not a label: `" + each + "`",
                        parameter,
                        "NAME=VALUE, with different names in lower case, " + MOST + " of them at most");
            }
        }
        return new Labels(found);
    }

    public Labels with(String name, String value) {
        Map<String, String> all = new TreeMap<>(values);
        all.put(name, value);
        return new Labels(all);
    }

    /** Whether somebody with these labels has what is needed. */
    boolean have(Labels needed) {
        return needed.values.entrySet().stream()
                .allMatch(need -> matches(values.getOrDefault(need.getKey(), ""), need.getValue()));
    }

    /**
     * Whether a text is one of those that a pattern stands for, in which {@code *} stands for any characters. Compares by hand: patterns of others
     * may keep the library's matcher busy for ever.
     */
    public static boolean matches(String value, String pattern) {
        String[] parts = pattern.split("\\*", -1);
        if (parts.length == 1) {
            return value.equals(pattern);
        }
        int at = parts[0].length();
        if (!value.startsWith(parts[0])) {
            return false;
        }
        for (int i = 1; i < parts.length - 1; i++) {
            int found = value.indexOf(parts[i], at);
            if (found < 0) {
                return false;
            }
            at = found + parts[i].length();
        }
        String last = parts[parts.length - 1];
        return value.length() - last.length() >= at && value.endsWith(last);
    }

    /** The labels as they are read. */
    public String text() {
        return new TreeMap<>(values)
                .entrySet().stream()
                        .map(label -> label.getKey() + "=" + label.getValue())
                        .collect(Collectors.joining(","));
    }
}
