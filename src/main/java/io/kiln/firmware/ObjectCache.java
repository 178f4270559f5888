// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Digests;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.base.incremental.Fingerprint.Made;
import io.kiln.base.incremental.Fingerprint.Made.Change;
import io.kiln.base.incremental.Fingerprint.Made.FileDigests;
import io.kiln.base.incremental.Fingerprint.Made.Journal;
import io.kiln.toolchain.compiler.SourceKind;
import io.kiln.toolchain.compiler.Toolchain;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Objects that one compiler made, shared by all projects of a user: most sources of a firmware are the same in each.
 * Objects are stored by the digest of their content, which is checked when one is taken. For each key there are the
 * inputs of some objects, as the compiler listed them. The caller decides whether they are still the same. The cache
 * is not part of a build's result: whatever cannot be read or written counts as missing.
 */
record ObjectCache(Optional<Path> folder) {
    /** Usual limit in bytes. */
    static final long MOST_BYTES = 256L << 20;

    /** Limit of objects with the same key, such as those of a source whose headers differ by project. */
    private static final int MOST_VARIANTS = 16;

    /** The cache of a compiler, which has none if it is not known exactly. */
    static ObjectCache of(Toolchain toolchain) {
        return new ObjectCache(toolchain.objectCache());
    }

    /**
     * Writes an object that was made before.
     *
     * @param key digest of the command line and the source
     * @param isCurrent whether the inputs of an object are those that its source has now
     * @param object file to write
     * @return the inputs and the digest of the object; empty if there is none
     */
    Optional<Made> find(String key, Predicate<Made> isCurrent, Path object) {
        if (folder.isEmpty()) {
            return Optional.empty();
        }
        Path list = list(key);
        for (Map.Entry<String, Made> variant : new Journal(list).read().entrySet()) {
            Path stored = stored(variant.getKey());
            if (isCurrent.test(variant.getValue()) && copied(stored, variant.getKey(), object)) {
                touch(list);
                touch(stored);
                return Optional.of(variant.getValue());
            }
        }
        return Optional.empty();
    }

    /**
     * Stores an object.
     *
     * @param key as in {@link #find}
     * @param made the inputs of the object
     * @param object the object's file
     */
    void keep(String key, Made made, Path object) {
        if (folder.isEmpty()) {
            return;
        }
        try {
            byte[] content = Files.readAllBytes(object);
            String digest = Digests.sha256(content);
            WholeFiles.write(stored(digest), content);
            Journal journal = new Journal(list(key));
            Map<String, Made> variants = new TreeMap<>(journal.read());
            if (variants.size() >= MOST_VARIANTS) {
                variants.clear();
            }
            variants.put(digest, made);
            journal.write(variants);
        } catch (IOException | KilnException e) {
            // The next build compiles the source again.
        }
    }

    /**
     * Whether the cache's size is worth a look after this object, as it is after one of sixteen: a look reads the state of thousands of
     * files.
     */
    static boolean isTurn(Made object) {
        return object.outputs().values().stream().anyMatch(digest -> digest.startsWith("0"));
    }

    /** Deletes what was used longest ago if the cache has more bytes than this, until half of them are left. */
    void limit(long most) {
        if (folder.filter(Files::isDirectory).isEmpty()) {
            return;
        }
        try {
            List<Used> files = new ArrayList<>();
            Files.walkFileTree(folder.get(), new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    files.add(new Used(file, attributes.size(), attributes.lastModifiedTime()));
                    return FileVisitResult.CONTINUE;
                }
            });
            long bytes = files.stream().mapToLong(Used::bytes).sum();
            if (bytes <= most) {
                return;
            }
            files.sort(Comparator.comparing(Used::last));
            for (Used file : files) {
                bytes -= file.bytes;
                Files.deleteIfExists(file.path);
                if (bytes <= most / 2) {
                    return;
                }
            }
        } catch (IOException e) {
            // Another build deletes files at the same time, or the folder cannot be written.
        }
    }

    /** A file of the cache, and when it was used last. */
    private record Used(Path path, long bytes, FileTime last) {}

    private Path list(String key) {
        return place("lists", key + ".json");
    }

    private Path stored(String digest) {
        return place("objects", digest + ".o");
    }

    private Path place(String kind, String name) {
        return folder.orElseThrow().resolve(kind).resolve(name.substring(0, 2)).resolve(name);
    }

    private static boolean copied(Path stored, String digest, Path object) {
        try {
            byte[] content = Files.readAllBytes(stored);
            if (!Digests.sha256(content).equals(digest)) {
                return false;
            }
            Files.write(object, content);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static void touch(Path file) {
        try {
            Files.setLastModifiedTime(file, FileTime.from(Instant.now()));
        } catch (IOException e) {
            // The file counts as older than it is, and is deleted earlier.
        }
    }

    /**
     * The place of one source in the {@link ObjectCache}. Its object is taken from there if the same compiler has made it
     * from the same command line, source and headers, and if no header was added that the compiler might read instead.
     */
    static final class CachedObject {
        /** Sources with these words depend on more than the contents of the files that compilers list. */
        private static final List<String> UNLISTED = List.of(
                "__has_include", "__has_embed", "embed", "incbin", ".include", "__DATE__", "__TIME__", "__TIMESTAMP__");

        private final FirmwareProject project;
        private final SourceUnit unit;
        private final ObjectCache cache;

        CachedObject(FirmwareProject project, SourceUnit unit) {
            this.project = project;
            this.unit = unit;
            this.cache = ObjectCache.of(project.toolchain());
        }

        /**
         * Writes the object if it is in the cache.
         *
         * @param line the command line with neutral names of outputs
         * @param rivals files that may hide others of these
         * @return digests of the files read, by name
         */
        Optional<Map<String, String>> find(
                List<String> line,
                FileDigests digests,
                Function<Set<String>, List<String>> rivals,
                Optional<Fence> fence,
                Path object) {
            Optional<String> source = digests.of(unit.path()).filter(digest -> isEligible());
            return source.flatMap(digest -> cache.find(
                            key(line, digest),
                            made -> {
                                Set<String> files = Staleness.files(made);
                                return Staleness.reason(made, files, digests, rivals.apply(files))
                                                .isEmpty()
                                        && fence.flatMap(each -> each.strangerBeside(unit, List.copyOf(files)))
                                                .isEmpty();
                            },
                            object))
                    .map(CachedObject::inputs);
        }

        /** Puts an object into the cache, unless it depends on more than the files read. */
        void keep(List<String> line, Map<String, String> inputs, Collection<String> rivals, Path object)
                throws IOException {
            if (!isEligible()
                    || inputs.containsValue("")
                    || !inputs.containsKey(unit.path())
                    || readsUnlisted(inputs)) {
                return;
            }
            cache.keep(
                    key(line, inputs.get(unit.path())),
                    Made.of(Staleness.inputs("", "", inputs, rivals), Map.of()),
                    object);
        }

        /** Writes the object of text on the compiler's standard input, which reads no files, if it is in the cache. */
        boolean findText(List<String> line, byte[] text, Path object) {
            return cache.find(key(line, Digests.sha256(text)), made -> true, object)
                    .isPresent();
        }

        /** Puts the object of text on the compiler's standard input into the cache. */
        void keepText(List<String> line, byte[] text, Path object) {
            cache.keep(key(line, Digests.sha256(text)), Made.of(Fingerprint.of("object"), Map.of()), object);
        }

        /** Whether an object may be in the cache. The user's own C may read anything, and so may C of an archive that is not fenced. */
        private boolean isEligible() {
            return unit.path().endsWith(".c")
                    && Set.of(SourceKind.OWN, SourceKind.SMALL, SourceKind.FREESTANDING)
                            .contains(unit.kind());
        }

        private boolean readsUnlisted(Map<String, String> inputs) throws IOException {
            for (String name : inputs.keySet()) {
                Path file = project.directory().resolve(name).normalize();
                if (file.startsWith(project.directory())) {
                    String text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
                    if (UNLISTED.stream().anyMatch(text::contains)) {
                        return true;
                    }
                }
            }
            return false;
        }

        private String key(List<String> line, String source) {
            String command = String.join("\0", line)
                    .replace(project.objectDirectory().toString(), "objects")
                    .replace(project.directory().toString(), ".");
            return Digests.sha256(command + "\0" + unit.path() + "\0" + source);
        }

        private static Map<String, String> inputs(Made made) {
            Map<String, String> inputs = new TreeMap<>();
            Staleness.files(made).forEach(name -> inputs.put(name, Staleness.digest(made, name)));
            return inputs;
        }
    }

    /**
     * Decides whether an object or an image is up to date with its inputs, and if not, why. The inputs are a tool, a
     * command line, the files read, and rivals: files of the same names that the tool may come to read instead.
     */
    static final class Staleness {
        private static final String TOOL = "tool";
        private static final String COMMAND = "command";
        private static final String FILE = "file/";
        private static final String RIVAL = "rival/";

        /** Name of an image's input that stands for the whole board: its memories are checked, and more of it takes part than the linker reads. */
        static final String BOARD = "board";

        private Staleness() {}

        /**
         * The inputs of an output.
         *
         * @param tool version of the compiler and of Kiln
         * @param command digest of the command line
         * @param files digest of every file read, by the compiler's name for it; empty if the file is missing
         * @param rivals paths of rival files
         */
        static Fingerprint inputs(String tool, String command, Map<String, String> files, Collection<String> rivals) {
            Fingerprint inputs = Fingerprint.of("object").value(TOOL, tool).value(COMMAND, command);
            files.forEach((name, digest) -> inputs.value(FILE + name, digest));
            rivals.forEach(name -> inputs.value(RIVAL + name, ""));
            return inputs;
        }

        /** The {@link #inputs} of an output with the current digests of the files read last time. */
        static Fingerprint inputsNow(String tool, String command, Set<String> files, FileDigests digests) {
            Fingerprint inputs = inputs(tool, command, Map.of(), List.of());
            files.forEach(name -> digests.of(name).ifPresent(digest -> inputs.value(FILE + name, digest)));
            return inputs;
        }

        /** The files read for an output. */
        static Set<String> files(Made made) {
            Set<String> files = new TreeSet<>();
            made.inputs().keySet().stream()
                    .filter(name -> name.startsWith(FILE))
                    .forEach(name -> files.add(name.substring(FILE.length())));
            return files;
        }

        /**
         * Why an output is out of date; empty if it is not.
         *
         * @param last its inputs last time
         * @param now its inputs now
         * @param outputs folder to which the names of outputs are relative
         */
        static Optional<String> reason(Optional<Made> last, Fingerprint now, Path outputs) {
            return changedInput(last, now).or(() -> changedOutput(last.orElseThrow(), outputs));
        }

        /** Which input of an output has changed, in the words of {@link #reason}, without a look at the outputs or at rivals. */
        static Optional<String> changedInput(Optional<Made> last, Fingerprint now) {
            if (last.isEmpty()) {
                return Optional.of("new");
            }
            List<Change> changes = last.get().changes(now);
            if (changes.stream().anyMatch(change -> change.name().equals(TOOL))) {
                return Optional.of("compiler or plugin changed");
            }
            if (changes.stream().anyMatch(change -> change.name().equals(COMMAND))) {
                return Optional.of("flags changed");
            }
            return changes.stream()
                    .map(Change::name)
                    .filter(name -> name.startsWith(FILE) || name.startsWith(BOARD))
                    .min(String::compareTo)
                    .map(name -> fileName(name) + " changed");
        }

        /** Why an object of a cache is out of date; its tool and command line are known to be the same. */
        static Optional<String> reason(Made made, Set<String> files, FileDigests digests, Collection<String> rivals) {
            return changedInput(Optional.of(made), inputsNow("", "", files, digests))
                    .or(() -> newRival(made, rivals));
        }

        /** Digest of a file read for an output. */
        static String digest(Made made, String file) {
            return made.inputs().get(FILE + file);
        }

        /** A rival that did not exist last time. */
        static Optional<String> newRival(Made last, Collection<String> rivals) {
            return rivals.stream()
                    .filter(rival -> !last.inputs().containsKey(RIVAL + rival))
                    .findFirst()
                    .map(rival -> fileName(rival) + " was added");
        }

        private static Optional<String> changedOutput(Made last, Path folder) {
            return last.outputChanges(folder).stream()
                    .findFirst()
                    .map(change -> fileName(change.name()) + (change.now().isEmpty() ? " is gone" : " was changed"));
        }

        static String fileName(String path) {
            return path.substring(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
        }
    }
}
