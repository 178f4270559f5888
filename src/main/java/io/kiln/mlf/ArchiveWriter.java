// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import io.kiln.artifact.ArchivePaths;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ParameterFile;
import io.kiln.artifact.RuntimeConfig;
import io.kiln.artifact.RuntimeFeature;
import io.kiln.artifact.RuntimeFiles;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.Problems;
import io.kiln.base.ResourceTree;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The files of an archive by path, without the leading {@code ./}. */
final class ArchiveWriter {
    private final SortedMap<String, Bytes> files = new TreeMap<>();
    private final Problems problems = new Problems(Failure.ARCHIVE);

    private ArchiveWriter() {}

    static SortedMap<String, Bytes> of(List<ModelLibrary> models, ModelLibraryFormat.Options options) {
        ArchiveWriter writer = new ArchiveWriter();
        writer.files.put(ArchivePaths.METADATA, Bytes.ofText(MetadataJson.print(models, options)));
        for (ModelLibrary model : models) {
            writer.addModel(model, options.version());
        }
        List<ModelLibrary> without = models.stream()
                .filter(model -> model.artifacts().of(ArtifactKind.RUNTIME).isEmpty())
                .toList();
        if (!without.isEmpty()) {
            writer.addRuntime(without);
        }
        writer.problems.throwIfAny();
        return writer.files;
    }

    private void addModel(ModelLibrary model, int version) {
        String name = model.metadata().name();
        for (Artifact artifact : model.artifacts().artifacts()) {
            switch (artifact.kind()) {
                case RELAY -> addText(relay(name, version), artifact);
                case PARAMETERS -> add(parameters(name), artifact.content());
                case GRAPH -> add(graph(name, version), artifact.content());
                case PAYLOAD -> addPayload(artifact);
                default -> add(ArchivePaths.of(artifact), artifact.content());
            }
        }
        if (model.artifacts().of(ArtifactKind.PARAMETERS).isEmpty()) {
            add(parameters(name), ParameterFile.write(List.of()));
        }
    }

    /** A text with operators that TVM does not have comes with the file that registers them there. */
    private void addText(String path, Artifact text) {
        add(path, text.content());
        if (text.text().contains("import kiln_relay")) {
            ResourceTree.read("mlf").forEach((name, content) -> add(ArchivePaths.SRC + "/" + name, content));
        }
    }

    private void addPayload(Artifact payload) {
        if (ArchivePlace.isTaken(payload.loader())) {
            problems.add(
                    "the loader `" + payload.loader() + "` has the name of a folder of native code",
                    payload.fileName() + " of code generator `" + payload.codegenId() + "`",
                    "another name of the loader",
                    "");
        } else {
            add(ArchivePaths.of(payload), payload.content());
        }
    }

    /**
     * The whole runtime, with the limits that the models need, if functions are looked up by name: programs that look them up can then be
     * built. Otherwise the parts that the models' C may use.
     */
    private void addRuntime(List<ModelLibrary> models) {
        Set<RuntimeFeature> used = RuntimeFeature.usedBy(models.stream()
                .flatMap(model -> model.artifacts().of(ArtifactKind.SOURCE).stream())
                .map(Artifact::content)
                .toList());
        boolean isByName = used.contains(RuntimeFeature.REGISTRY)
                || models.stream().anyMatch(model -> model.metadata().api().executor() != ExecutorKind.AOT);
        RuntimeConfig config = RuntimeConfig.of(
                isByName ? models.stream().map(ModelLibrary::metadata).toList() : List.of());
        Stream.concat(
                        RuntimeFiles.runtime(isByName ? EnumSet.allOf(RuntimeFeature.class) : used).stream(),
                        RuntimeFiles.templates().stream())
                .map(config::applyTo)
                .forEach(file -> add(ArchivePaths.of(file), file.content()));
    }

    private static String relay(String model, int version) {
        return version == ModelLibraryFormat.ONE_MODEL
                ? ArchivePaths.RELAY_OF_ONE_MODEL
                : ArchivePaths.of(ArtifactKind.RELAY, ArchivePaths.relayFile(model));
    }

    private static String graph(String model, int version) {
        return version == ModelLibraryFormat.ONE_MODEL
                ? ArchivePaths.GRAPH_OF_ONE_MODEL
                : ArchivePaths.of(ArtifactKind.GRAPH, ArchivePaths.graphFile(model));
    }

    private static String parameters(String model) {
        return ArchivePaths.of(ArtifactKind.PARAMETERS, ArchivePaths.parametersFile(model));
    }

    private void add(String path, Bytes content) {
        Bytes other = files.putIfAbsent(path, content);
        if (other != null && !other.equals(content)) {
            problems.add(Failure.ARCHIVE.problem(
                    "two files of the archive have this name, with different content",
                    path,
                    "models with different names",
                    "Give each model a different kiln.name"));
        }
    }
}
