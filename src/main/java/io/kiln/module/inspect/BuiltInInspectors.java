// SPDX-License-Identifier: Apache-2.0
package io.kiln.module.inspect;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile;
import io.kiln.module.DeviceModule;
import io.kiln.module.ModuleReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Kiln's own inspectors. */
final class BuiltInInspectors {
    private static final Set<ArtifactKind> TEXT = Set.of(ArtifactKind.SOURCE, ArtifactKind.HEADER, ArtifactKind.RELAY);

    /** The name of a function that is defined, at the beginning of a line. */
    private static final Pattern FUNCTION = Pattern.compile(
            "^[A-Za-z_][\\w \\t*]{0,200}?\\b(\\w{1,200})\\s?\\([^;{}]{0,2000}\\)\\s*\\{", Pattern.MULTILINE);

    /** Each level indents its lines, and lengthens the paths of its values. */
    private static final int MOST_LEVELS = 64;

    private static final int MOST_LETTERS = 1 << 24;

    private static final JsonFactory JSON = JsonFactory.builder()
            .streamReadConstraints(
                    StreamReadConstraints.builder().maxNestingDepth(MOST_LEVELS).build())
            .build();

    private BuiltInInspectors() {}

    /** All of Kiln's inspectors; those that say most about a file come first. */
    static List<ArtifactInspector> all() {
        return List.of(
                new BuiltInInspector(
                        "list-functions", file -> file.kind() == ArtifactKind.SOURCE, BuiltInInspectors::functions),
                new BuiltInInspector("list-functions", BuiltInInspectors::isElf, BuiltInInspectors::symbols),
                new BuiltInInspector("sections", BuiltInInspectors::isElf, BuiltInInspectors::sections),
                new BuiltInInspector("metadata", file -> file.loader().equals("metadata"), BuiltInInspectors::metadata),
                new BuiltInInspector(
                        "list-params", file -> file.kind() == ArtifactKind.PARAMETERS, BuiltInInspectors::parameters),
                new BuiltInInspector("list-nodes", file -> file.kind() == ArtifactKind.GRAPH, BuiltInInspectors::nodes),
                new BuiltInInspector(
                        "print-signatures",
                        file -> file.fileName().endsWith(".functions"),
                        BuiltInInspectors::signatures),
                new BuiltInInspector(
                        "json-prettyprint",
                        file -> file.fileName().endsWith(".json") || file.kind() == ArtifactKind.GRAPH,
                        BuiltInInspectors::json),
                new BuiltInInspector(
                        "print",
                        file -> TEXT.contains(file.kind()),
                        file -> file.text().lines().toList()));
    }

    private static List<String> functions(Artifact file) {
        List<String> names = new ArrayList<>();
        Matcher matcher = FUNCTION.matcher(file.text());
        while (matcher.find()) {
            names.add(matcher.group(1));
        }
        return names;
    }

    /** Whether a file is an ELF file: an object or a shared library. */
    private static boolean isElf(Artifact file) {
        return file.kind() == ArtifactKind.OBJECT || file.fileName().endsWith(".so");
    }

    private static ElfFile elf(Artifact file) {
        return ElfFile.read(file.content(), file.fileName());
    }

    private static List<String> symbols(Artifact file) {
        return elf(file).symbols().stream()
                .filter(symbol -> symbol.isFunction() && symbol.section() != 0)
                .map(symbol -> symbol.name() + " " + symbol.size() + " bytes")
                .sorted()
                .toList();
    }

    private static List<String> sections(Artifact file) {
        return elf(file).sections().stream()
                .filter(ElfFile.Section::isAllocated)
                .map(section -> section.name() + " " + section.size() + " bytes")
                .toList();
    }

    private static List<String> parameters(Artifact file) {
        return ParameterFile.read(file.content(), file.fileName()).stream()
                .map(tensor -> tensor.name() + ": " + tensor.dtype().text() + " " + tensor.shape())
                .toList();
    }

    private static List<String> nodes(Artifact file) {
        List<String> lines = new ArrayList<>();
        for (JsonNode node : parse(file).path("nodes")) {
            lines.add(lines.size() + " " + node.path("op").asText() + " "
                    + node.path("name").asText());
        }
        return lines;
    }

    private static List<String> json(Artifact file) {
        return parse(file).toPrettyString().lines().toList();
    }

    /** The values of a JSON file, a line for each with the path to it. */
    private static List<String> metadata(Artifact file) {
        List<String> lines = new ArrayList<>();
        long letters = values("", parse(file), lines, 0);
        if (letters > MOST_LETTERS) {
            throw new KilnException(Failure.ARCHIVE.problem(
                    "its values with their paths have more than " + MOST_LETTERS + " letters",
                    file.fileName(),
                    "the metadata of a model",
                    "json-prettyprint shows it without paths"));
        }
        return lines;
    }

    /** Adds lines until they, and the paths on the way to them, have too many letters, and returns how many they have. */
    private static long values(String path, JsonNode node, List<String> lines, long before) {
        long letters = before + path.length();
        if (letters > MOST_LETTERS) {
            return letters;
        }
        if (node.isValueNode()) {
            String text = node.asText();
            lines.add(path + " = " + text);
            return letters + text.length();
        }
        if (node.isArray()) {
            for (int i = 0; i < node.size() && letters <= MOST_LETTERS; i++) {
                letters = values(path + "[" + i + "]", node.get(i), lines, letters);
            }
            return letters;
        }
        for (Map.Entry<String, JsonNode> entry : node.properties()) {
            String inner = path.isEmpty() ? entry.getKey() : path + "." + entry.getKey();
            letters = values(inner, entry.getValue(), lines, letters);
            if (letters > MOST_LETTERS) {
                break;
            }
        }
        return letters;
    }

    private static JsonNode parse(Artifact file) {
        try {
            return new ObjectMapper(JSON).readTree(file.text());
        } catch (JsonProcessingException e) {
            throw new KilnException(
                    Failure.ARCHIVE.problem("this is not JSON: " + e.getOriginalMessage(), file.fileName(), "JSON", ""),
                    e);
        }
    }

    private static List<String> signatures(Artifact file) {
        return DeviceModule.readTable(new ModuleReader(file.content(), file.fileName())).values().stream()
                .map(DeviceModule.FunctionInfo::signature)
                .toList();
    }

    /** An inspector that looks at each artifact by itself, made of two functions. */
    private record BuiltInInspector(String name, Predicate<Artifact> accepted, Function<Artifact, List<String>> text)
            implements ArtifactInspector {
        @Override
        public Scope scope() {
            return Scope.ARTIFACT;
        }

        @Override
        public boolean accepts(Artifact artifact) {
            return accepted.test(artifact);
        }

        @Override
        public List<String> inspect(List<Artifact> artifacts) {
            return artifacts.stream()
                    .flatMap(artifact -> text.apply(artifact).stream())
                    .toList();
        }
    }
}
