// SPDX-License-Identifier: Apache-2.0
package io.kiln.target;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.base.TargetText;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A target with other code generators before the host's, such as {@code cmsis-nn -mcpu=cortex-m55 -mattr=+nodsp, c -mcpu=cortex-m55}: parts
 * separated by commas, the host last. The order is that in which they take operators.
 *
 * <p>A comma within a value, as in {@code -keys=arm_cpu,cpu}, does not separate parts unless a blank follows it; neither does one within
 * single or double quotes.
 *
 * @param externals the other code generators, each once
 * @param host the target of what they leave
 */
public record CompositeTarget(List<External> externals, Target host) {
    private static final Pattern NAME = Pattern.compile("[A-Za-z][A-Za-z0-9_-]*");
    private static final Pattern ATTRIBUTE = Pattern.compile("--?([A-Za-z0-9_][A-Za-z0-9_.-]*)(?:=(.*))?");

    public CompositeTarget {
        externals = List.copyOf(externals);
    }

    /**
     * Another code generator's part.
     *
     * @param name name of the code generator
     * @param attributes its options by name, without leading dashes
     */
    public record External(String name, SortedMap<String, String> attributes) {
        public External {
            attributes = Collections.unmodifiableSortedMap(new TreeMap<>(attributes));
        }

        /** The canonical string: the name, then its options sorted. */
        public String text() {
            return name
                    + attributes.entrySet().stream()
                            .map(option -> " -" + option.getKey() + "=" + option.getValue())
                            .collect(Collectors.joining());
        }

        /** The value of an option, or the other one if it is not given. */
        public String option(String option, String otherwise) {
            return attributes.getOrDefault(option, otherwise);
        }

        /** The same part with an option, unless that is given already. */
        public External withDefault(String option, String value) {
            TreeMap<String, String> more = new TreeMap<>(attributes);
            more.putIfAbsent(option, value);
            return new External(name, more);
        }
    }

    /**
     * Reads a target string, composite or not.
     *
     * @throws KilnException with all errors
     */
    public static CompositeTarget parse(String text) {
        List<String> parts = TargetText.parts(text);
        Problems problems = new Problems(Failure.TARGET);
        if (isOpen(text)) {
            add(problems, "a quote is not closed", text, "quotes in pairs");
        }
        List<External> externals = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (String part : parts.subList(0, parts.size() - 1)) {
            External external = external(part, text, problems);
            if (TargetText.HOST_KINDS.contains(external.name())) {
                add(
                        problems,
                        "`" + external.name() + "` is no code generator beside the host's",
                        text,
                        "one target of kind " + TargetText.HOSTS + ", behind all code generators");
            }
            if (!names.add(external.name())) {
                add(problems, "`" + external.name() + "` is given twice", text, "each code generator once");
            }
            externals.add(external);
        }
        problems.throwIfAny();
        return new CompositeTarget(externals, Target.parse(parts.get(parts.size() - 1)));
    }

    /**
     * The host's part of a target string, which is not checked.
     *
     * @return the text itself if it is not composite
     */
    public static String hostText(String text) {
        List<String> parts = TargetText.parts(text);
        return parts.get(parts.size() - 1);
    }

    /** The canonical string, which {@link #parse} reads back. */
    public String text() {
        return externals.stream().map(external -> external.text() + ", ").collect(Collectors.joining()) + host.text();
    }

    /** The same code generators before another target of the host. */
    public CompositeTarget withHost(Target other) {
        return new CompositeTarget(externals, other);
    }

    /** The same target with other options of its code generators. */
    public CompositeTarget withExternals(List<External> others) {
        return new CompositeTarget(others, host);
    }

    private static External external(String part, String text, Problems problems) {
        TreeMap<String, String> attributes = new TreeMap<>();
        if (TargetText.wrongLetter(part).isPresent()) {
            add(problems, "`" + part + "` has characters that are not allowed", text, TargetText.LETTERS);
            return new External("", attributes);
        }
        List<TargetText.Word> words = TargetText.words(part);
        String name = words.isEmpty() ? "" : words.get(0).text();
        if (!NAME.matcher(name).matches()) {
            add(
                    problems,
                    "`" + name + "` is not the name of a code generator",
                    text,
                    "cmsis-nn, or the name of your own");
        }
        for (TargetText.Word word : words.subList(Math.min(1, words.size()), words.size())) {
            var attribute = ATTRIBUTE.matcher(word.text());
            if (!attribute.matches()) {
                add(problems, "`" + word.text() + "` is not an option of " + name, text, "-name=value");
            } else if (attributes.put(attribute.group(1), attribute.group(2) == null ? "1" : attribute.group(2))
                    != null) {
                add(problems, "`-" + attribute.group(1) + "` of " + name + " is given twice", text, "each option once");
            }
        }
        return new External(name, attributes);
    }

    private static void add(Problems problems, String what, String text, String expected) {
        problems.add(Failure.TARGET.problem(
                what,
                "target `" + text.substring(0, Math.min(text.length(), TargetText.MAX_LENGTH)) + "`",
                expected,
                ""));
    }

    private static boolean isOpen(String text) {
        char quote = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (quote != 0 ? c == quote : c == '\'' || c == '"') {
                quote = quote == 0 ? c : 0;
            }
        }
        return quote != 0;
    }
}
