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
import io.kiln.artifact.PromisedForms;
import io.kiln.base.Extensions;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.NearMiss;
import io.kiln.base.elf.ElfFile;
import io.kiln.module.DeviceModule;
import io.kiln.module.ModuleReader;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds inspectors by name, and runs them on the artifacts that they accept. Several may have one name, for different artifacts. */
public final class ArtifactInspectors {
    /** Asks for a list of the inspectors. */
    public static final String LIST = "?";

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

    private final List<ArtifactInspector> inspectors;

    private ArtifactInspectors(List<ArtifactInspector> inspectors) {
        this.inspectors = inspectors.stream()
                .<ArtifactInspector>map(GuardedInspector::new)
                .toList();
    }

    /** Inspectors of plain data, and those that the class path has as services. */
    public static ArtifactInspectors installed() {
        return installed(List.of());
    }

    /**
     * As {@link #installed()}, with others.
     *
     * @param more those that need other programs
     */
    public static ArtifactInspectors installed(List<ArtifactInspector> more) {
        List<ArtifactInspector> all = new ArrayList<>(all());
        all.addAll(more);
        all.addAll(Extensions.services(
                ArtifactInspector.class,
                io.kiln.spi.ArtifactInspector.class,
                PromisedInspector::new,
                "inspector",
                ArtifactInspector.class.getClassLoader()));
        return new ArtifactInspectors(all);
    }

    /** Only these inspectors. */
    public static ArtifactInspectors of(List<ArtifactInspector> inspectors) {
        return new ArtifactInspectors(inspectors);
    }

    /** Names of the inspectors that accept an artifact, those that say most first. */
    public List<String> names(Artifact artifact) {
        return inspectors.stream()
                .filter(inspector -> inspector.accepts(artifact))
                .map(ArtifactInspector::name)
                .distinct()
                .toList();
    }

    /**
     * The output of an inspector.
     *
     * @param name its name, or {@link #LIST}
     * @throws KilnException if there is none of that name, or it accepts no artifact, or artifacts are damaged
     */
    public List<String> lines(Collection<Artifact> artifacts, String name) {
        if (name.equals(LIST)) {
            List<String> known = list(artifacts);
            return known.isEmpty() ? List.of("no inspector knows these artifacts") : known;
        }
        TreeSet<String> names = new TreeSet<>();
        inspectors.forEach(inspector -> names.add(inspector.name()));
        if (!names.contains(name)) {
            throw Failure.CONFIG.exception(
                    "there is no inspector `" + name + "`",
                    "kiln.inspector",
                    "one of " + String.join(", ", names),
                    NearMiss.didYouMean(name, names));
        }
        List<String> lines = new ArrayList<>();
        inspectors.stream()
                .filter(inspector -> inspector.name().equals(name))
                .forEach(inspector -> groups(inspector, artifacts).forEach((title, group) -> {
                    lines.add(title);
                    List<String> said = inspector.inspect(group);
                    (said.isEmpty() ? List.of("nothing") : said).forEach(line -> lines.add("  " + line));
                }));
        if (lines.isEmpty()) {
            throw Failure.CONFIG.exception(
                    "the inspector `" + name + "` says nothing of these artifacts",
                    "kiln.inspector",
                    "",
                    "Set kiln.inspector to ? for those that do");
        }
        return lines;
    }

    private static Map<String, List<Artifact>> groups(ArtifactInspector inspector, Collection<Artifact> artifacts) {
        Map<String, List<Artifact>> groups = new LinkedHashMap<>();
        for (Artifact artifact : artifacts) {
            if (inspector.accepts(artifact)) {
                String title = switch (inspector.scope()) {
                    case ARTIFACT -> artifact.targetKey() + "/" + artifact.loader() + "/" + artifact.fileName();
                    case CODEGEN -> "code generator " + artifact.codegenId();
                    case LOADER -> "loader " + artifact.loader();
                };
                groups.computeIfAbsent(title, key -> new ArrayList<>()).add(artifact);
            }
        }
        return groups;
    }

    private List<String> list(Collection<Artifact> artifacts) {
        return inspectors.stream()
                .filter(inspector -> artifacts.stream().anyMatch(inspector::accepts))
                .map(inspector ->
                        inspector.name() + " (" + inspector.scope().name().toLowerCase(Locale.ROOT) + ")")
                .distinct()
                .sorted()
                .toList();
    }

    /**
     * An inspector that implements the interface that lasts.
     *
     * @param service what others wrote
     */
    private record PromisedInspector(io.kiln.spi.ArtifactInspector service)
            implements ArtifactInspector, Extensions.Adapter {
        @Override
        public String name() {
            return service.name();
        }

        @Override
        public Scope scope() {
            return Scope.valueOf(service.scope().name());
        }

        @Override
        public boolean accepts(Artifact artifact) {
            return service.accepts(PromisedForms.of(artifact));
        }

        @Override
        public List<String> inspect(List<Artifact> artifacts) {
            return service.inspect(PromisedForms.of(artifacts));
        }
    }

    /**
     * An inspector that may be foreign code: an exception of it becomes a message that names it.
     *
     * @param inspector the inspector itself
     */
    private record GuardedInspector(ArtifactInspector inspector) implements ArtifactInspector {
        @Override
        public String name() {
            return guarded("state its name", inspector::name);
        }

        @Override
        public Scope scope() {
            return guarded("state its scope", inspector::scope);
        }

        @Override
        public boolean accepts(Artifact artifact) {
            return guarded("say whether it accepts " + artifact.fileName(), () -> inspector.accepts(artifact));
        }

        @Override
        public List<String> inspect(List<Artifact> artifacts) {
            return guarded(
                    "inspect "
                            + String.join(
                                    ", ",
                                    artifacts.stream().map(Artifact::fileName).toList()),
                    () -> List.copyOf(inspector.inspect(artifacts)));
        }

        private <T> T guarded(String what, Supplier<T> call) {
            return Extensions.call(
                    call,
                    why -> Failure.EXTENSION.exception(
                            "it could not " + what + ": " + why, "inspector " + Extensions.name(inspector)));
        }
    }

    /** All of Kiln's inspectors; those that say most about a file come first. */
    private static List<ArtifactInspector> all() {
        return List.of(
                new BuiltInInspector(
                        "list-functions", file -> file.kind() == ArtifactKind.SOURCE, ArtifactInspectors::functions),
                new BuiltInInspector("list-functions", ArtifactInspectors::isElf, ArtifactInspectors::symbols),
                new BuiltInInspector("sections", ArtifactInspectors::isElf, ArtifactInspectors::sections),
                new BuiltInInspector(
                        "metadata", file -> file.loader().equals("metadata"), ArtifactInspectors::metadata),
                new BuiltInInspector(
                        "list-params", file -> file.kind() == ArtifactKind.PARAMETERS, ArtifactInspectors::parameters),
                new BuiltInInspector(
                        "list-nodes", file -> file.kind() == ArtifactKind.GRAPH, ArtifactInspectors::nodes),
                new BuiltInInspector(
                        "print-signatures",
                        file -> file.fileName().endsWith(".functions"),
                        ArtifactInspectors::signatures),
                new BuiltInInspector(
                        "json-prettyprint",
                        file -> file.fileName().endsWith(".json") || file.kind() == ArtifactKind.GRAPH,
                        ArtifactInspectors::json),
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
            throw Failure.ARCHIVE.exception(
                    "its values with their paths have more than " + MOST_LETTERS + " letters",
                    file.fileName(),
                    "the metadata of a model",
                    "json-prettyprint shows it without paths");
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
                    Failure.ARCHIVE.problem("this is not JSON: " + e.getOriginalMessage(), file.fileName(), "JSON"), e);
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
