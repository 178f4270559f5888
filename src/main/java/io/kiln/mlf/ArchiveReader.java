// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.artifact.ArchivePaths;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** Makes model libraries from the files of an archive. */
final class ArchiveReader {
    /** File names that are safe in makefiles, shells and every file system. */
    private static final Pattern FILE_NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.+/-]{0,250}");

    /** The code generator of files at places of earlier versions. */
    private static final String OLD_FILES = Artifact.FOREIGN + "-old";

    private static final Pattern MODEL_NAME = Pattern.compile("[A-Za-z0-9_]{1,200}");

    private final String archive;
    private final SortedMap<String, Bytes> files;
    private final Problems problems = new Problems(Failure.ARCHIVE);

    ArchiveReader(String archive, SortedMap<String, Bytes> files) {
        this.archive = archive;
        this.files = files;
    }

    List<ModelLibrary> read() {
        JsonNode json = MetadataFile.parse(archive, files);
        JsonKey root = JsonKey.root(archive + ": " + ArchivePaths.METADATA, json, problems);
        FormatVersion version = MetadataFile.version(root, problems);
        SortedMap<String, JsonKey> models = MetadataFile.models(version, root, problems);
        List<String> names = List.copyOf(models.keySet());
        List<ModelLibrary> libraries = new ArrayList<>();
        models.forEach((name, model) -> {
            if (!MODEL_NAME.matcher(name).matches()) {
                model.at("model_name").wrong("letters, digits and underscores");
            } else if (OperatorStyle.isOf(version, model)) {
                libraries.add(operators(version, name, model));
            } else if (ModelMetadataReader.isWhole(version, model)) {
                code(version, name, names, model).ifPresent(code -> {
                    ModelMetadata metadata =
                            new ModelMetadataReader(archive, problems, name, version, model, code).read();
                    libraries.add(new ModelLibrary(
                            metadata, artifacts(version, name, names, targets(model, metadata.target()))));
                });
            }
        });
        problems.throwIfAny();
        return List.copyOf(libraries);
    }

    /** The operators of an archive, which nothing calls in order; a host finds them by their names. */
    private ModelLibrary operators(FormatVersion version, String name, JsonKey model) {
        List<String> names = List.of(name);
        ModelMetadataReader.Code code = new ModelMetadataReader.Code(
                new InterfaceText(name, ""), RelaySignature.NONE, Optional.empty(), Optional.empty());
        ModelMetadata metadata = new ModelMetadataReader(archive, problems, name, version, model, code)
                .operators(PackedCode.operators(code(name, names)));
        return new ModelLibrary(metadata, artifacts(version, name, names, targets(model, metadata.target())));
    }

    /** A model's header, or its packed functions if it has no header; empty if neither is there, so that C cannot call the model. */
    private Optional<ModelMetadataReader.Code> code(
            FormatVersion version, String name, List<String> models, JsonKey model) {
        RelaySignature relay = relay(version, name, models)
                .map(text -> RelaySignature.of(text.text()))
                .orElse(RelaySignature.NONE);
        if (ModelMetadataReader.isGraph(version, model)) {
            return graph(version, name, models)
                    .map(graph -> new ModelMetadataReader.Code(
                            new InterfaceText(name, ""), relay, Optional.empty(), Optional.of(graph)));
        }
        Optional<Bytes> content = Optional.ofNullable(files.get(ArchivePaths.header(name)));
        boolean isForCrt = model.at("external_dependencies").isThere()
                || files.keySet().stream().anyMatch(path -> path.startsWith(ArchivePaths.RUNTIME + "/"));
        // Packed functions of the C++ runtime look each other up by their names.
        Optional<PackedCode> packed = content.isEmpty() && isForCrt
                ? PackedCode.of(new InterfaceNames(name), code(name, models))
                : Optional.empty();
        if (content.isEmpty() && packed.isEmpty()) {
            problems.add(
                    "there is no header: the model has "
                            + (isForCrt ? "the packed interface" : "the packed interface of the C++ runtime"),
                    archive + ": " + ArchivePaths.header(name),
                    "the C interface with the unpacked API",
                    ModelMetadataReader.EXPORT);
        }
        return content.isEmpty() && packed.isEmpty()
                ? Optional.empty()
                : Optional.of(new ModelMetadataReader.Code(
                        new InterfaceText(name, content.map(Bytes::text).orElse("")), relay, packed, Optional.empty()));
    }

    /** The graph and the names of its parameters. */
    private Optional<GraphModel> graph(FormatVersion version, String model, List<String> models) {
        String path = ArchivePaths.of(ArtifactKind.GRAPH, ArchivePaths.graphFile(model));
        Optional<Bytes> graph = Optional.ofNullable(files.get(path))
                .or(() -> Optional.ofNullable(files.get(version.graph())).filter(file -> models.size() == 1));
        if (graph.isEmpty()) {
            problems.add("there is no graph", archive + ": " + path, "what the executor `graph` walks");
        }
        String parameters = ArchivePaths.of(ArtifactKind.PARAMETERS, ArchivePaths.parametersFile(model));
        Optional<Bytes> params = Optional.ofNullable(files.get(parameters));
        try {
            return graph.map(file -> GraphModel.of(file, archive + ": " + path, params, archive + ": " + parameters));
        } catch (KilnException e) {
            e.problems().forEach(problems::add);
            return Optional.empty();
        }
    }

    /** A model's sources and objects, unchanged. */
    private List<Artifact> code(String model, List<String> models) {
        List<Artifact> code = new ArrayList<>();
        for (ArtifactKind kind : List.of(ArtifactKind.SOURCE, ArtifactKind.OBJECT)) {
            files.forEach((path, content) -> ArchivePlace.of(path)
                    .filter(place -> place.kind() == kind
                            && owner(place.fileName(), models).equals(model)
                            && wrong(path, place).isEmpty())
                    .ifPresent(place -> code.add(place.artifact(place.fileName(), content))));
        }
        return code;
    }

    /** The Relay text, whose file has the model's name in version 7 and a fixed name before. */
    private Optional<Bytes> relay(FormatVersion version, String name, List<String> models) {
        return Optional.ofNullable(files.get(ArchivePaths.of(ArtifactKind.RELAY, ArchivePaths.relayFile(name))))
                .or(() -> models.size() == 1 ? Optional.ofNullable(files.get(version.relay())) : Optional.empty());
    }

    /** The artifacts of a model: its own files, and those of the runtime, which all models share. */
    private ArtifactSet artifacts(
            FormatVersion version, String model, List<String> models, SortedMap<String, String> targets) {
        List<Artifact> artifacts = new ArrayList<>();
        if (!version.relay().startsWith(ArchivePaths.SRC + "/")) {
            relay(version, model, models)
                    .map(text -> Artifact.of(OLD_FILES, ArtifactKind.RELAY, version.relay(), text))
                    .ifPresent(artifacts::add);
        }
        if (!version.graph().startsWith(ArchivePaths.folder(ArtifactKind.GRAPH) + "/")) {
            Optional.ofNullable(files.get(version.graph()))
                    .map(graph -> Artifact.of(OLD_FILES, ArtifactKind.GRAPH, ArchivePaths.graphFile(model), graph))
                    .ifPresent(artifacts::add);
        }
        files.forEach((path, content) -> {
            ArchivePlace.of(path)
                    .filter(place ->
                            place.isShared() || owner(place.fileName(), models).equals(model))
                    .filter(place -> isSound(path, place))
                    .map(place -> place.artifact(fileName(place, version, model), content))
                    .ifPresent(artifacts::add);
        });
        if (artifacts.stream().noneMatch(a -> a.kind() == ArtifactKind.SOURCE || a.kind() == ArtifactKind.OBJECT)
                && problems.isEmpty()) {
            problems.add(
                    "there is no C for model `" + model + "`",
                    archive + ": " + ArchivePaths.folder(ArtifactKind.SOURCE) + "/",
                    new InterfaceNames(model).library(0) + ".c and so on",
                    ModelMetadataReader.EXPORT);
        }
        // The set would name the same files again.
        return problems.isEmpty() ? new ArtifactSet(artifacts, targets) : new ArtifactSet(List.of());
    }

    /** Target strings by key. Archives of one target, and those that TVM wrote, do not list them; the host core's is taken then. */
    private SortedMap<String, String> targets(JsonKey model, String host) {
        SortedMap<String, String> targets = new TreeMap<>(Map.of(Artifact.HOST, host));
        JsonKey keys = model.at(MetadataJson.TARGET_KEYS);
        if (keys.isThere()) {
            keys.entries().forEach((key, target) -> targets.put(key, target.text()));
        }
        return targets;
    }

    /** The name that version 7 gives a file. */
    private static String fileName(ArchivePlace place, FormatVersion version, String model) {
        if (place.kind() == ArtifactKind.GRAPH) {
            return ArchivePaths.graphFile(model);
        }
        return place.isCode() && !version.hasNamedSources() ? model + "_" + place.fileName() : place.fileName();
    }

    /** Whether a file can be used; adds a problem if not, only once for a file that all models share. */
    private boolean isSound(String path, ArchivePlace place) {
        Optional<Problem> wrong = wrong(path, place);
        wrong.filter(problem -> !problems.list().contains(problem)).ifPresent(problems::add);
        return wrong.isEmpty();
    }

    private Optional<Problem> wrong(String path, ArchivePlace place) {
        ArtifactKind kind = place.kind();
        String where = archive + ": " + path.replaceAll("\\p{Cntrl}", "?");
        if (!FILE_NAME.matcher(place.fileName()).matches()
                || !FILE_NAME.matcher(place.targetKey()).matches()
                || !FILE_NAME.matcher(place.loader()).matches()) {
            return Optional.of(Failure.ARCHIVE.problem(
                    "the file has a name that makefiles cannot handle", where, "letters, digits and _ . + -"));
        }
        if (kind == ArtifactKind.SOURCE && !place.fileName().endsWith(".c")) {
            return Optional.of(Failure.ARCHIVE.problem(
                    "the file is not C", where, "sources that end in .c", ModelMetadataReader.EXPORT));
        }
        if (ArtifactKind.of(place.loader(), place.fileName()) != kind) {
            return Optional.of(Failure.ARCHIVE.problem(
                    "the file does not belong into this folder",
                    where,
                    "headers that end in .h in include, objects that end in .o or .a in lib"));
        }
        return Optional.empty();
    }

    /** The model with the longest name that is a prefix of the file's; the first model if no name is. */
    private static String owner(String file, List<String> models) {
        String base = file.startsWith(InterfaceNames.PREFIX) ? file.substring(InterfaceNames.PREFIX.length()) : file;
        return models.stream()
                .filter(name -> startsWith(base, name + "_") || startsWith(base, name + "."))
                .max(Comparator.comparingInt(String::length))
                .orElse(models.get(0));
    }

    private static boolean startsWith(String file, String name) {
        return file.regionMatches(true, 0, name, 0, name.length());
    }

    /**
     * What a file is in an archive, which its folder tells.
     *
     * @param kind the kind of the folder's files
     * @param loader their loader
     * @param targetKey the target for which they were made
     * @param fileName path below the folder
     */
    record ArchivePlace(ArtifactKind kind, String loader, String targetKey, String fileName) {
        private static final List<ArtifactKind> NATIVE = Arrays.stream(ArtifactKind.values())
                .filter(ArtifactKind::isNative)
                .toList();

        /** The place of a file; empty for a file that is not an artifact, such as {@code metadata.json}. */
        static Optional<ArchivePlace> of(String path) {
            if (path.equals(ArchivePaths.RELAY_OPERATORS)) {
                return Optional.empty();
            }
            String[] parts = path.split("/", 4);
            if (parts[0].equals(ArchivePaths.CODEGEN)) {
                return parts.length < 4 ? Optional.empty() : Optional.of(code(parts[1], parts[2], parts[3]));
            }
            return Arrays.stream(ArtifactKind.values())
                    .filter(kind -> !kind.isNative() && kind != ArtifactKind.PAYLOAD)
                    .filter(kind -> path.startsWith(ArchivePaths.folder(kind) + "/"))
                    .findFirst()
                    .map(kind -> new ArchivePlace(
                            kind,
                            kind.loader(),
                            Artifact.HOST,
                            path.substring(ArchivePaths.folder(kind).length() + 1)));
        }

        private static ArchivePlace code(String key, String folder, String fileName) {
            ArtifactKind kind = NATIVE.stream()
                    .filter(found -> ArchivePaths.folder(found).equals(ArchivePaths.code(Artifact.HOST, folder)))
                    .findFirst()
                    .orElse(ArtifactKind.PAYLOAD);
            return new ArchivePlace(kind, kind.isNative() ? Artifact.NATIVE : folder, key, fileName);
        }

        /** Whether these files, those of the runtime and templates, belong to all models of an archive rather than to one. */
        boolean isShared() {
            return kind == ArtifactKind.RUNTIME || kind == ArtifactKind.TEMPLATE;
        }

        /** Whether these files carry code. */
        boolean isCode() {
            return kind == ArtifactKind.SOURCE || kind == ArtifactKind.OBJECT;
        }

        /** Whether a folder of this name has a meaning already, so that no loader can have the name. */
        static boolean isTaken(String loader) {
            return NATIVE.stream()
                    .anyMatch(kind -> ArchivePaths.folder(kind).equals(ArchivePaths.code(Artifact.HOST, loader)));
        }

        Artifact artifact(String name, Bytes content) {
            String codegen = kind.isNative() ? Artifact.FOREIGN : Artifact.FOREIGN + "-" + loader;
            return new Artifact(codegen, loader, name, content, targetKey);
        }
    }
}
