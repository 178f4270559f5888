// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.ResourceTree;
import io.kiln.toolchain.board.RunnerDefinition.Complaint;
import io.kiln.toolchain.board.RunnerDefinition.Form;
import io.kiln.toolchain.board.RunnerDefinition.Parameter;
import io.kiln.toolchain.board.RunnerDefinition.ProbeName;
import io.kiln.toolchain.board.RunnerDefinition.Procedure;
import io.kiln.toolchain.board.RunnerDefinition.Program;
import io.kiln.toolchain.board.RunnerDefinition.Step;
import io.kiln.toolchain.yaml.YamlDocument;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads definitions of runners: the built-in ones, and those of boards. */
public final class Runners {
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
                .replaceAll(match ->
                        Matcher.quoteReplacement(values.apply(match.group(1)).orElse(match.group())));
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
        node.path("steps").forEach(each -> steps.add(new Step(words(each.path("arguments")), pattern(each, "expect"))));
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
