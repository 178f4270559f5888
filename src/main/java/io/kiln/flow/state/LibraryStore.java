// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.state;

import io.kiln.artifact.ArchivePaths;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelLibrary.ArchiveOrigin;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.report.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;

/**
 * Stores compiled models between goals: metadata and the list of files in one JSON file, the files themselves at their
 * paths in the unpacked archive.
 *
 * @param index the JSON file
 * @param folder an unpacked Model Library Format archive
 */
public record LibraryStore(Path index, Path folder) {
    /** The artifacts of which firmware is built; Relay text stays in the archive. */
    private static final Set<ArtifactKind> FIRMWARE =
            Set.of(ArtifactKind.SOURCE, ArtifactKind.HEADER, ArtifactKind.OBJECT, ArtifactKind.PAYLOAD);

    /** The artifacts of models for the graph executor, stored beside those of {@link #FIRMWARE}. */
    private static final Set<ArtifactKind> GRAPH = Set.of(ArtifactKind.GRAPH, ArtifactKind.PARAMETERS);

    /** A model in the JSON file; {@code origin} has at most one element. */
    record Entry(
            ModelMetadata metadata,
            List<FileEntry> files,
            SortedMap<String, String> targets,
            List<ArchiveOrigin> origin) {
        Entry {
            origin = origin == null ? List.of() : List.copyOf(origin);
        }
    }

    /** An artifact without its content. */
    record FileEntry(String codegenId, String loader, String fileName, String targetKey) {}

    /** The JSON file, all models. */
    record Index(List<Entry> models) {
        Index {
            models = List.copyOf(models);
            if (models.isEmpty()) {
                throw new IllegalArgumentException("no model");
            }
        }
    }

    /** Stores the list of these models' files; the files themselves are in the folder already. */
    public void write(List<ModelLibrary> models) {
        List<Entry> entries = models.stream()
                .map(model -> new Entry(
                        model.metadata(),
                        model.artifacts().artifacts().stream()
                                .filter(a ->
                                        FIRMWARE.contains(a.kind()) || (isGraph(model) && GRAPH.contains(a.kind())))
                                .map(a -> new FileEntry(a.codegenId(), a.loader(), a.fileName(), a.targetKey()))
                                .toList(),
                        model.artifacts().targets(),
                        model.origin().stream().toList()))
                .toList();
        Json.write(index, new Index(entries));
    }

    /**
     * The stored models with their files.
     *
     * @throws KilnException if they have not been generated yet
     */
    public List<ModelLibrary> read() {
        List<ModelLibrary> models = new ArrayList<>();
        for (Entry entry : entries()) {
            List<Artifact> artifacts = entry.files().stream()
                    .map(file -> new Artifact(
                            file.codegenId(), file.loader(), file.fileName(), content(file), file.targetKey()))
                    .toList();
            models.add(new ModelLibrary(
                    entry.metadata(),
                    new ArtifactSet(artifacts, entry.targets()),
                    entry.origin().stream().findFirst()));
        }
        return models;
    }

    /** Whether anything is stored. */
    public boolean exists() {
        return Files.isRegularFile(index);
    }

    public List<ModelMetadata> metadata() {
        return entries().stream().map(Entry::metadata).toList();
    }

    /** Models with signal processing before them, by the files' names. */
    public List<ModelMetadata> hearing() {
        return entries().stream()
                .filter(entry -> {
                    String header = new InterfaceNames(entry.metadata().name()).preprocessHeader();
                    return entry.files().stream()
                            .anyMatch(file -> file.fileName().equals(header));
                })
                .map(Entry::metadata)
                .toList();
    }

    private List<Entry> entries() {
        if (!exists()) {
            throw Failure.PROJECT.exception(
                    "the model has not been compiled yet",
                    index.toString(),
                    "kiln:generate before this goal",
                    "Run the whole lifecycle, for example mvn verify");
        }
        return Json.read(index, Index.class).models();
    }

    private static boolean isGraph(ModelLibrary model) {
        return model.metadata().api().executor() == ExecutorKind.GRAPH;
    }

    private Bytes content(FileEntry file) {
        Artifact artifact =
                new Artifact(file.codegenId(), file.loader(), file.fileName(), Bytes.ofText(""), file.targetKey());
        Path named = folder.resolve(ArchivePaths.of(artifact));
        Path path = artifact.kind() == ArtifactKind.GRAPH && !Files.exists(named)
                ? folder.resolve(ArchivePaths.GRAPH_OF_ONE_MODEL)
                : named;
        try {
            return Bytes.wrap(Files.readAllBytes(path));
        } catch (IOException e) {
            throw new KilnException(
                    Failure.PROJECT.problem(
                            "a generated file is missing", path.toString(), "what kiln:generate wrote", "Build again"),
                    e);
        }
    }
}
