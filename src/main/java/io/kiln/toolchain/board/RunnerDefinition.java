// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.ResourceTree;
import io.kiln.toolchain.board.RunnerDefinition.Form;
import io.kiln.toolchain.board.RunnerDefinition.Parameter;
import io.kiln.toolchain.board.RunnerDefinition.ProbeName;
import io.kiln.toolchain.board.RunnerDefinition.Procedure;
import io.kiln.toolchain.board.RunnerDefinition.Program;
import io.kiln.toolchain.yaml.YamlDocument;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * How a program flashes a board. Its texts have placeholders: {@code {image}} is the file, {@code {start}} the first address, {@code
 * {probe}} the arguments that choose the probe, and each parameter has one. {@code {bin}}, {@code {address}}, {@code {size}}, {@code
 * {hexsize}}, {@code {offset}} and {@code {readback}} belong to a segment of the image: what names them is done for each segment. Patterns are valid
 * regular expressions.
 *
 * @param id its name, as in {@code kiln.flash.runner}
 * @param title its name for people
 * @param program what is started; without steps Kiln itself copies the file to a drive
 * @param form the file that it takes
 * @param probe how it is told which device is meant
 * @param parameters what a board says about it
 * @param procedure what it does, and how its answers are understood
 */
public record RunnerDefinition(
        String id,
        String title,
        Program program,
        Form form,
        ProbeName probe,
        List<Parameter> parameters,
        Procedure procedure) {
    public RunnerDefinition {
        parameters = List.copyOf(parameters);
    }

    /** Files with the image. */
    public enum Form {
        /** Intel HEX. */
        HEX,
        /** A flat file for each segment. */
        BIN,
        /** UF2, for boards that name their chip's family. */
        UF2
    }

    /**
     * A program on the PATH.
     *
     * @param names its names, the first that is found counts
     * @param version arguments with which it prints its version; empty if none do
     * @param install how to get it
     */
    public record Program(List<String> names, List<String> version, String install) {
        public Program {
            names = List.copyOf(names);
            version = List.copyOf(version);
        }
    }

    /**
     * How a device is named.
     *
     * @param what what its name is
     * @param pattern the names that are possible
     * @param required whether it must be named
     * @param arguments those that choose it, with {@code {name}}
     */
    public record ProbeName(String what, String pattern, boolean required, List<String> arguments) {
        public ProbeName {
            arguments = List.copyOf(arguments);
        }
    }

    /**
     * What a board says.
     *
     * @param name its key
     * @param pattern the values that are possible, none of which begins like an option
     * @param value its default; empty if a board must say it
     * @param what its meaning
     */
    public record Parameter(String name, String pattern, Optional<String> value, String what) {}

    /**
     * What is done.
     *
     * @param files scripts by name, line by line
     * @param steps runs of the program, in order
     * @param verifies whether success means that the flash was read back and is equal
     * @param begins what the program says when it changes the flash
     * @param failures what it says when it fails, causes before their consequences
     */
    public record Procedure(
            SortedMap<String, List<String>> files,
            List<Step> steps,
            boolean verifies,
            Optional<String> begins,
            List<Complaint> failures) {
        public Procedure {
            files = new TreeMap<>(files);
            steps = List.copyOf(steps);
            failures = List.copyOf(failures);
        }

        /** Every text that may have placeholders. */
        Stream<String> texts() {
            return Stream.concat(
                    files.values().stream().flatMap(List::stream),
                    steps.stream().flatMap(step -> step.arguments().stream()));
        }

        /** Whether the program reads the flash into files, which Kiln compares. */
        public boolean readsBack() {
            return texts().anyMatch(text -> text.contains("{readback}"));
        }
    }

    /**
     * One run of the program.
     *
     * @param expect what a run that succeeds prints
     */
    public record Step(List<String> arguments, Optional<String> expect) {
        public Step {
            arguments = List.copyOf(arguments);
        }
    }

    /**
     * What a failure looks like.
     *
     * @param kind its kind, as in {@code flash.json}
     * @param text part of a line; the group {@code address} is the address concerned
     */
    public record Complaint(String kind, String text) {}

    /** The values of all parameters, those of a board before the defaults; a parameter without any is absent. */
    public Map<String, String> values(Map<String, String> board) {
        Map<String, String> values = new TreeMap<>();
        for (Parameter each : parameters) {
            each.value().ifPresent(value -> values.put(each.name(), value));
        }
        values.putAll(board);
        return values;
    }

    /** Reads definitions of runners: the built-in ones, and those of boards. */
    public static final class Runners {
        /** The runner that a board defines itself. */
        public static final String COMMAND = "command";

        private static final Pattern PLACEHOLDER = Pattern.compile("\\{([A-Za-z]+)}");
        private static final Set<String> KNOWN =
                Set.of("image", "start", "probe", "bin", "address", "size", "hexsize", "offset", "readback");

        private Runners() {}

        /** The built-in definitions, by name. */
        public static SortedMap<String, RunnerDefinition> builtIn() {
            TreeMap<String, RunnerDefinition> all = new TreeMap<>();
            ResourceTree.read("toolchains/runners").forEach((file, content) -> {
                String id = file.substring(file.lastIndexOf('/') + 1).replace(".yaml", "");
                all.put(id, definition(id, YamlDocument.parse(file, content).root()));
            });
            return all;
        }

        /**
         * Reads a definition that satisfies the schema.
         *
         * @throws java.util.regex.PatternSyntaxException if one of its patterns is no regular expression
         */
        public static RunnerDefinition definition(String id, JsonNode node) {
            JsonNode probe = node.path("probe");
            return new RunnerDefinition(
                    id,
                    node.path("title").asText(id),
                    new Program(
                            words(node.path("programs")),
                            words(node.path("version")),
                            node.path("install").asText()),
                    Form.valueOf(node.path("image").asText().toUpperCase(Locale.ROOT)),
                    new ProbeName(
                            probe.path("what").asText("the device's name"),
                            valid(probe.path("pattern").asText("[^\\p{Cc}-][^\\p{Cc}]{0,200}")),
                            probe.path("required").asBoolean(),
                            words(probe.path("arguments"))),
                    parameters(node.path("parameters")),
                    procedure(node));
        }

        /** The placeholders of a definition that mean nothing. */
        public static List<String> unknownPlaceholders(RunnerDefinition definition) {
            Set<String> known = new HashSet<>(KNOWN);
            definition.parameters().forEach(each -> known.add(each.name()));
            return definition
                    .procedure()
                    .texts()
                    .flatMap(text -> PLACEHOLDER.matcher(text).results())
                    .map(match -> match.group(1))
                    .filter(name -> !known.contains(name))
                    .distinct()
                    .toList();
        }

        /** A text with its placeholders replaced; those without a value stay. */
        public static String expand(String text, Function<String, Optional<String>> values) {
            return PLACEHOLDER
                    .matcher(text)
                    .replaceAll(match -> Matcher.quoteReplacement(
                            values.apply(match.group(1)).orElse(match.group())));
        }

        private static List<Parameter> parameters(JsonNode node) {
            List<Parameter> parameters = new ArrayList<>();
            node.properties()
                    .forEach(each -> parameters.add(new Parameter(
                            each.getKey(),
                            valid(each.getValue().path("pattern").asText()),
                            Optional.ofNullable(each.getValue().get("default")).map(JsonNode::asText),
                            each.getValue().path("what").asText())));
            return parameters;
        }

        private static Procedure procedure(JsonNode node) {
            TreeMap<String, List<String>> files = new TreeMap<>();
            node.path("files").properties().forEach(each -> files.put(each.getKey(), words(each.getValue())));
            List<Step> steps = new ArrayList<>();
            node.path("steps")
                    .forEach(each -> steps.add(new Step(words(each.path("arguments")), pattern(each, "expect"))));
            List<Complaint> failures = new ArrayList<>();
            node.path("failures")
                    .forEach(each -> failures.add(new Complaint(
                            each.path("kind").asText(), pattern(each, "text").orElseThrow())));
            return new Procedure(files, steps, node.path("verifies").asBoolean(), pattern(node, "begins"), failures);
        }

        private static Optional<String> pattern(JsonNode node, String key) {
            return Optional.ofNullable(node.get(key)).map(text -> valid(text.asText()));
        }

        private static String valid(String pattern) {
            return Pattern.compile(pattern).pattern();
        }

        private static List<String> words(JsonNode array) {
            List<String> words = new ArrayList<>();
            array.forEach(item -> words.add(item.asText()));
            return words;
        }
    }
}
