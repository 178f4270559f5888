// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.artifact.ArchivePaths;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ParameterFile;
import io.kiln.artifact.RuntimeFeature;
import io.kiln.artifact.RuntimeFiles;
import io.kiln.artifact.RuntimeFiles.RuntimeConfig;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.LimitedInput;
import io.kiln.base.Problems;
import io.kiln.base.ResourceTree;
import io.kiln.mlf.ArchiveReader.ArchivePlace;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;

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

    /** The files of an untrusted tar, by path, with limits on its content. */
    static final class TarMembers {
        private static final int MOST_MEMBERS = 20_000;
        private static final long MOST_BYTES = 256L << 20;

        /** The share of the heap that an archive may take, as its divisor: a build holds several copies of an archive's files at once. */
        private static final int HEAP_SHARE = 6;

        /** Limit for the headers of one member: paths and pax records. */
        private static final int MOST_HEADER_BYTES = 256 << 10;

        private static final int LONGEST_PATH = 1000;
        private static final int LONGEST_NAME = 200;

        /** Characters that some system treats as a separator, a drive or an end. */
        private static final Pattern UNSAFE = Pattern.compile("[\\\\:\\p{Cntrl}]");

        /** Names of the folder that contains all members. */
        private static final Set<String> ROOTS = Set.of(".", "./", "/");

        private static final int GZIP_MAGIC = 0x1F;
        private static final int GZIP_SECOND = 0x8B;

        private final String archive;
        private final long heap;

        /** Size of the tar: no member is larger, whatever its header claims. */
        private final long size;

        private final SortedMap<String, Bytes> files = new TreeMap<>();

        /** Spelling of every file and folder by its lower-case form, to find names that differ only in case. */
        private final Map<String, String> spellings = new HashMap<>();

        private final Set<String> folders = new HashSet<>();
        private long bytes;

        private TarMembers(String archive, long size, long heap) {
            this.archive = archive;
            this.size = size;
            this.heap = heap;
        }

        static SortedMap<String, Bytes> read(Path file) {
            return read(file, Runtime.getRuntime().maxMemory());
        }

        private static long size(Path file) {
            try {
                return Files.size(file);
            } catch (IOException e) {
                // Reading says what is wrong with it.
                return 0;
            }
        }

        /**
         * Reads an archive.
         *
         * @param heap maximum heap of this Java process in bytes
         */
        static SortedMap<String, Bytes> read(Path file, long heap) {
            TarMembers members = new TarMembers(String.valueOf(file.getFileName()), size(file), heap);
            if (!Files.isRegularFile(file)) {
                throw members.problem(
                        Files.exists(file) ? "is not a file" : "does not exist", "", "a Model Library Format tar");
            }
            members.refuseCompressed(file);
            try (LimitedInput in = new LimitedInput(new BufferedInputStream(Files.newInputStream(file)));
                    TarArchiveInputStream tar = new TarArchiveInputStream(in, StandardCharsets.UTF_8.name())) {
                members.read(tar, in);
            } catch (KilnException e) {
                throw e;
            } catch (IOException | RuntimeException e) {
                // Commons Compress throws various arithmetic exceptions for false headers.
                throw new KilnException(
                        Failure.ARCHIVE.problem(
                                "cannot be read as a tar: " + printable(String.valueOf(e.getMessage())),
                                members.archive,
                                "a complete, uncompressed tar"),
                        e);
            }
            members.files.keySet().stream()
                    .filter(members.folders::contains)
                    .findFirst()
                    .ifPresent(path -> {
                        throw members.problem("is a file and a folder", path, "");
                    });
            return members.files;
        }

        private void refuseCompressed(Path file) {
            try (InputStream in = Files.newInputStream(file)) {
                if (in.read() == GZIP_MAGIC && in.read() == GZIP_SECOND) {
                    throw problem(
                            "is compressed with gzip",
                            "",
                            "a tar without compression, as TVM writes it",
                            "Run gunzip on it");
                }
            } catch (IOException e) {
                throw FileFailure.of("cannot read", file, e);
            }
        }

        private void read(TarArchiveInputStream tar, LimitedInput in) throws IOException {
            for (int count = 1; ; count++) {
                in.limit(MOST_HEADER_BYTES, "the headers of a member");
                TarArchiveEntry entry = tar.getNextEntry();
                if (entry == null) {
                    return;
                }
                if (count > MOST_MEMBERS) {
                    throw problem("has more than " + MOST_MEMBERS + " members", "", "");
                }
                in.unlimited();
                add(tar, entry);
            }
        }

        private void add(TarArchiveInputStream tar, TarArchiveEntry entry) throws IOException {
            String name = entry.getName();
            if (entry.isDirectory()) {
                if (!ROOTS.contains(name)) {
                    addFolders(path(name.endsWith("/") ? name.substring(0, name.length() - 1) : name) + "/");
                }
                return;
            }
            String path = path(name);
            if (!isPlain(entry)) {
                throw problem("is neither a plain file nor a folder", name, "");
            }
            if (files.putIfAbsent(path, content(tar, entry)) != null) {
                throw problem("exists twice", name, "");
            }
            checkSpelling(path);
            addFolders(path);
        }

        private void addFolders(String path) {
            for (int slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
                checkSpelling(path.substring(0, slash));
                folders.add(path.substring(0, slash));
            }
        }

        /** Refuses two names that differ only in case, which are one file on file systems that ignore case. */
        private void checkSpelling(String path) {
            String other = spellings.putIfAbsent(path.toLowerCase(Locale.ROOT), path);
            if (other != null && !other.equals(path)) {
                throw problem("differs from " + other + " only in case", path, "names that differ on every system");
            }
        }

        private static boolean isPlain(TarArchiveEntry entry) {
            byte kind = entry.getLinkFlag();
            return (kind == TarConstants.LF_NORMAL || kind == TarConstants.LF_OLDNORM) && !entry.isSparse();
        }

        private Bytes content(TarArchiveInputStream tar, TarArchiveEntry entry) throws IOException {
            long left = Math.min(MOST_BYTES, heap / HEAP_SHARE) - bytes;
            if (entry.getSize() > left) {
                throw tooLarge(entry.getName());
            }
            if (entry.getSize() > size) {
                throw problem("is cut off", entry.getName(), entry.getSize() + " bytes");
            }
            // Read in one piece, because joining pieces would need the memory twice.
            byte[] content = new byte[(int) entry.getSize()];
            int length = tar.readNBytes(content, 0, content.length);
            bytes += length;
            if (length != content.length) {
                throw problem("is cut off", entry.getName(), entry.getSize() + " bytes");
            }
            return Bytes.wrap(content);
        }

        private KilnException tooLarge(String name) {
            if (heap / HEAP_SHARE >= MOST_BYTES) {
                return problem(
                        "is too large: with it the archive holds more than " + MOST_BYTES + " bytes", name, "", "");
            }
            return problem(
                    "is too large: with it the archive holds more than " + heap / HEAP_SHARE + " bytes, a share of "
                            + "1/" + HEAP_SHARE + " of Java's memory of " + heap + " bytes",
                    name,
                    "",
                    "Give Maven more memory, for example by MAVEN_OPTS=-Xmx" + suggestedGigabytes() + "g");
        }

        /** Gigabytes of heap that suffice for every archive within the limits, for the advice. */
        private static long suggestedGigabytes() {
            return (MOST_BYTES * HEAP_SHARE + (1L << 30) - 1) >> 30;
        }

        private String path(String name) {
            String path = name.startsWith("./") ? name.substring(2) : name;
            List<String> parts = List.of(path.split("/", -1));
            boolean isSafe = !UNSAFE.matcher(path).find()
                    && path.length() <= LONGEST_PATH
                    && parts.stream()
                            .noneMatch(part -> part.isEmpty() || part.matches("\\.+") || part.length() > LONGEST_NAME);
            if (!isSafe) {
                throw problem("lies outside the archive or has no proper name", name, "a path relative to the archive");
            }
            return path;
        }

        private KilnException problem(String what, String member, String expected) {
            return problem(what, member, expected, "");
        }

        private KilnException problem(String what, String member, String expected, String next) {
            String where = member.isEmpty() ? archive : archive + ": " + printable(member);
            return Failure.ARCHIVE.exception(what, where, expected, next);
        }

        private static String printable(String text) {
            String printable = text.replaceAll("\\p{Cntrl}", "?");
            return printable.length() > LONGEST_PATH ? printable.substring(0, LONGEST_PATH) + "…" : printable;
        }
    }
}
