// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.desk;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
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

    /**
     * The labels of a worker's boards and emulators.
     *
     * @param own those of the worker
     * @param slots those of single boards, by their probes, which count before the worker's
     */
    public record WorkerLabels(Labels own, Map<String, Labels> slots) {
        private static final Set<String> GIVEN = Set.of("worker", "slot", "board");

        /** Of a worker that has said nothing. */
        public static final WorkerLabels NONE = new WorkerLabels(Labels.NONE, Map.of());

        public WorkerLabels {
            slots = Map.copyOf(slots);
        }

        /**
         * Reads what a worker's owner says: labels, of which some are of a board, as in {@code room=3,0669FF/desk=left}.
         *
         * @param parameter where the text is from
         * @param probes of the worker's boards
         * @throws KilnException with all that is wrong: what is no label or of no board, and labels that the farm gives
         */
        public static WorkerLabels parse(String parameter, String text, Set<String> probes) {
            Map<String, List<String>> texts = new TreeMap<>();
            for (String each : text.isBlank() ? new String[0] : text.split(",", -1)) {
                int slash = each.lastIndexOf('/');
                texts.computeIfAbsent(slash < 0 ? "" : each.substring(0, slash).strip(), probe -> new ArrayList<>())
                        .add(each.substring(slash + 1));
            }
            Problems problems = new Problems(Failure.FARM);
            Map<String, Labels> found = new TreeMap<>();
            texts.forEach((probe, labels) -> problems.collect(() -> {
                if (!probe.isEmpty() && !probes.contains(probe)) {
                    problems.add(
                            "no board has the probe `" + probe + "`", parameter, "one of " + new TreeSet<>(probes));
                }
                Labels read = Labels.parse(parameter, String.join(",", labels));
                read.values().keySet().stream()
                        .filter(GIVEN::contains)
                        .sorted()
                        .forEach(name -> problems.add(
                                "the label `" + name + "` is given by the farm itself", parameter, "another name"));
                found.put(probe, read);
            }));
            problems.throwIfAny();
            Labels own = found.getOrDefault("", Labels.NONE);
            found.remove("");
            return new WorkerLabels(own, found);
        }

        /**
         * Whether a board or an emulator of the worker has what a job needs. Beside its own labels it has {@code worker}, {@code slot}, {@code board}
         * and, if it does not say otherwise, {@code silicon}: {@code none} for an emulator.
         *
         * @param taker the board or emulator
         * @param board the job's
         */
        public boolean have(Taker taker, String board, Labels needs) {
            if (needs.values().isEmpty()) {
                return true;
            }
            Map<String, String> all = new HashMap<>();
            if (taker.place().equals("emulator")) {
                all.put(Labels.SILICON, "none");
            }
            all.putAll(own.values());
            all.putAll(slots.getOrDefault(taker.slot(), Labels.NONE).values());
            all.put("worker", taker.worker());
            all.put("slot", taker.slot());
            all.put("board", board);
            return new Labels(all).have(needs);
        }
    }
}
