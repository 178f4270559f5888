// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import com.fasterxml.jackson.databind.JsonNode;
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
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.base.ResourceTree;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;

/**
 * Model Library Format: model libraries as a tar that microTVM's tools understand (python/tvm/micro/model_library_format.py).
 *
 * <p>Version 5 holds one model, version 7 one or several. The same input gives the same bytes: members are sorted, belong to root, and have one
 * time.
 */
public final class ModelLibraryFormat {
    static final int ONE_MODEL = 5;
    static final int SEVERAL_MODELS = 7;

    /** The date of members if no build time is given: the earliest that a zip can have. */
    private static final Instant NO_TIME = Instant.parse("1980-01-01T00:00:00Z");

    private ModelLibraryFormat() {}

    /**
     * Options of writing.
     *
     * @param version 5 or 7
     * @param timestamp export date and time of all members, in whole seconds
     * @param runtimeVersion version of the C runtime in {@code metadata.json}
     */
    public record Options(int version, Instant timestamp, String runtimeVersion) {
        public Options {
            if (version != ONE_MODEL && version != SEVERAL_MODELS) {
                throw Failure.CONFIG.exception(
                        "Model Library Format version " + version + " cannot be written", "kiln.mlfVersion", "5 or 7");
            }
            timestamp = timestamp.truncatedTo(ChronoUnit.SECONDS);
        }

        /** Without a timestamp a fixed date is used, so that the archive stays reproducible. */
        public static Options of(int version, Optional<Instant> timestamp, String runtimeVersion) {
            return new Options(version, timestamp.orElse(NO_TIME), runtimeVersion);
        }
    }

    /**
     * Writes an archive. The C runtime and the templates are Kiln's unless a library brings its own.
     *
     * @throws KilnException if there is no model, there are too many for the version, or names clash
     */
    public static Bytes write(List<ModelLibrary> models, Options options) {
        SortedMap<String, Optional<Bytes>> members = new TreeMap<>();
        files(models, options).forEach((path, content) -> {
            for (int slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
                members.put(path.substring(0, slash + 1), Optional.empty());
            }
            members.put(path, Optional.of(content));
        });
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (TarArchiveOutputStream tar = new TarArchiveOutputStream(out, StandardCharsets.UTF_8.name())) {
            tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_POSIX);
            tar.setAddPaxHeadersForNonAsciiNames(true);
            for (Map.Entry<String, Optional<Bytes>> member : members.entrySet()) {
                put(tar, member.getKey(), member.getValue(), options.timestamp());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("writing to memory cannot fail", e);
        }
        return Bytes.wrap(out.toByteArray());
    }

    /**
     * The files of an archive by path, without the leading {@code ./}, whether or not firmware can be built from them.
     *
     * @throws KilnException if it is not a tar, or contains paths or sizes that no archive needs
     */
    public static SortedMap<String, Bytes> files(Path file) {
        return TarMembers.read(file);
    }

    /**
     * The files of an archive that {@link #write} would write.
     *
     * @throws KilnException as {@link #write} does
     */
    public static SortedMap<String, Bytes> files(List<ModelLibrary> models, Options options) {
        checkModels(models, options);
        return ArchiveWriter.of(models, options);
    }

    /**
     * {@code metadata.json} among the files of an archive.
     *
     * @param archive the archive's name, for messages
     * @throws KilnException if it is missing or not JSON
     */
    public static JsonNode metadata(String archive, SortedMap<String, Bytes> files) {
        return MetadataFile.parse(archive, files);
    }

    /**
     * The models of an archive of version 1 to 7, by Kiln or by TVM. Information that its files lack (schedules,
     * multiply-accumulates) is empty or 0; tensors of unknown shape have one dimension.
     *
     * @param archive the archive's name, for messages
     * @throws KilnException with all reasons why firmware cannot be built from it
     */
    public static List<ModelLibrary> read(String archive, SortedMap<String, Bytes> files) {
        return new ArchiveReader(archive, files).read();
    }

    /**
     * Whether archives of a version have the folders of version 7. Other archives are converted when they are read.
     *
     * @param version 1 to 7
     */
    public static boolean hasPresentTree(int version) {
        FormatVersion format = new FormatVersion(version);
        return format.hasNamedSources() && format.relay().startsWith(ArchivePaths.SRC + "/");
    }

    /**
     * Reads an archive's files and its models.
     *
     * @throws KilnException if it is not such an archive, or contains paths or sizes that no archive needs
     */
    public static List<ModelLibrary> read(Path file) {
        return read(String.valueOf(file.getFileName()), files(file));
    }

    private static void put(TarArchiveOutputStream tar, String path, Optional<Bytes> content, Instant time)
            throws IOException {
        TarArchiveEntry entry = new TarArchiveEntry("./" + path);
        entry.setIds(0, 0);
        entry.setNames("root", "root");
        entry.setMode(content.isPresent() ? 0100644 : 040755);
        entry.setModTime(time.toEpochMilli());
        entry.setSize(content.map(Bytes::size).orElse(0));
        tar.putArchiveEntry(entry);
        if (content.isPresent()) {
            tar.write(content.get().toArray());
        }
        tar.closeArchiveEntry();
    }

    private static void checkModels(List<ModelLibrary> models, Options options) {
        if (models.isEmpty()) {
            throw Failure.CONFIG.exception("there is no model to write", "Model Library Format");
        }
        if (models.size() > 1 && options.version() == ONE_MODEL) {
            throw Failure.CONFIG.exception(
                    "version 5 of the Model Library Format cannot hold " + models.size() + " models",
                    "kiln.mlfVersion",
                    "7 for several models",
                    "Set kiln.mlfVersion to 7");
        }
        Set<String> names = new HashSet<>();
        for (ModelLibrary model : models) {
            if (model.artifacts().hasSeveralTargets() && options.version() == ONE_MODEL) {
                throw Failure.CONFIG.exception(
                        "version 5 of the Model Library Format cannot hold files for several targets",
                        "kiln.mlfVersion",
                        "7 for the targets "
                                + String.join(", ", model.artifacts().targets().keySet()),
                        "Set kiln.mlfVersion to 7");
            }
            if (!names.add(model.metadata().name())) {
                throw Failure.CONFIG.exception(
                        "two models are named `" + model.metadata().name() + "`", "kiln.name", "a name for each");
            }
        }
    }

    /** The files of an archive by path, without the leading {@code ./}. */
    private static final class ArchiveWriter {
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
                        "another name of the loader");
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
}
