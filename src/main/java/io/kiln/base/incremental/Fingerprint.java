// SPDX-License-Identifier: Apache-2.0
package io.kiln.base.incremental;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.RecordComponent;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * All inputs of a result, by name: the canonical form of its records. Equal fingerprints give equal results. Not thread-safe.
 *
 * <p>A record is taken with every component, and those of its records, but for what {@link NoInput} names; nothing has to be listed beside it.
 * A {@link Path} stands for what it names: a file for its name and the digest of its content, a folder for the names and digests of all files
 * below it. Where they lie on this computer does not count, nor does the order of sets and maps.
 */
public final class Fingerprint {
    private static final String ABSENT = "absent";

    private final String result;
    private final TreeMap<String, String> parts = new TreeMap<>();
    private final TreeSet<Path> paths = new TreeSet<>();

    private Fingerprint(String result) {
        this.result = result;
    }

    /**
     * A fingerprint without inputs yet.
     *
     * @param result name of the step that makes the result, as {@link NoInput#of} has it
     */
    public static Fingerprint of(String result) {
        return new Fingerprint(result);
    }

    /**
     * Adds a value.
     *
     * @param name its name; the components of a record are {@code name.component}, or {@code component} if the name is empty
     * @param value text, a number, a boolean, an enum, a time, bytes, a path, a public record, {@link Inputs}, or a collection, a map or an optional of such
     * @throws IllegalArgumentException for any other value: make it a record, or let it implement {@link Inputs}
     */
    public Fingerprint value(String name, Object value) {
        if (value instanceof Optional<?> optional) {
            optional.ifPresent(present -> value(name, present));
        } else if (value instanceof Inputs inputs) {
            value(name, inputs.inputs());
        } else if (value instanceof Record given) {
            components(name, given);
        } else if (value instanceof Path path) {
            path(name, path);
        } else if (value instanceof Map<?, ?> map) {
            parts.put(name, map.size() + " entries");
            map.forEach((key, content) -> value(name + "/" + text(name, key), content));
        } else if (value instanceof Set<?> set) {
            list(
                    name,
                    set.stream()
                            .sorted((a, b) -> canonical(a).compareTo(canonical(b)))
                            .toList());
        } else if (value instanceof Collection<?> collection) {
            list(name, List.copyOf(collection));
        } else if (!isEmptyOptional(value)) {
            String text = text(name, value);
            parts.put(name, text.indexOf('\n') < 0 && text.indexOf('\r') < 0 ? text : Digests.sha256(text));
        }
        return this;
    }

    private void components(String name, Record given) {
        Class<?> type = given.getClass();
        if (type.getInterfaces().length > 0) {
            parts.put(name, type.getSimpleName());
        }
        for (RecordComponent component : type.getRecordComponents()) {
            if (counts(component)) {
                value(name.isEmpty() ? component.getName() : name + "." + component.getName(), read(given, component));
            }
        }
    }

    private boolean counts(RecordComponent component) {
        NoInput none = component.getAnnotation(NoInput.class);
        return none == null || (none.of().length > 0 && !List.of(none.of()).contains(result));
    }

    private static Object read(Record given, RecordComponent component) {
        try {
            return component.getAccessor().invoke(given);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException(given.getClass() + " is not public", e);
        }
    }

    private void path(String name, Path path) {
        paths.add(path);
        if (Files.isDirectory(path)) {
            List<Path> files = filesBelow(path);
            parts.put(name, files.size() + " files");
            files.forEach(file ->
                    parts.put(name + "/" + path.relativize(file).toString().replace('\\', '/'), digest(file)));
        } else {
            parts.put((name + " " + path.getFileName()).strip(), digest(path));
        }
    }

    /** Adds a list; elements without inner parts become one part, so that a message shows them all. */
    private void list(String name, List<?> elements) {
        if (elements.stream().allMatch(Fingerprint::isScalar)) {
            ArrayNode texts = JsonNodeFactory.instance.arrayNode();
            elements.forEach(element -> texts.add(text(name, element)));
            value(name, texts.toString());
            return;
        }
        parts.put(name, elements.size() + " elements");
        for (int i = 0; i < elements.size(); i++) {
            value(name + "[" + i + "]", elements.get(i));
        }
    }

    private String canonical(Object element) {
        return of(result).value("", element).parts.toString();
    }

    private static boolean isScalar(Object value) {
        return value instanceof CharSequence
                || value instanceof Number
                || value instanceof Boolean
                || value instanceof Enum<?>
                || value instanceof Duration
                || value instanceof Instant
                || value instanceof Bytes;
    }

    private static boolean isEmptyOptional(Object value) {
        return (value instanceof OptionalInt whole && whole.isEmpty())
                || (value instanceof OptionalLong large && large.isEmpty())
                || (value instanceof OptionalDouble real && real.isEmpty());
    }

    private static String text(String name, Object value) {
        if (value instanceof Enum<?> constant) {
            return constant.name().toLowerCase(Locale.ROOT);
        }
        if (value instanceof Bytes bytes) {
            return Digests.sha256(bytes.toArray());
        }
        if (value instanceof OptionalInt whole) {
            return String.valueOf(whole.getAsInt());
        }
        if (value instanceof OptionalLong large) {
            return String.valueOf(large.getAsLong());
        }
        if (value instanceof OptionalDouble real) {
            return String.valueOf(real.getAsDouble());
        }
        if (!isScalar(value)) {
            throw new IllegalArgumentException(
                    name + " has no canonical form: " + (value == null ? "null" : value.getClass()));
        }
        return value.toString();
    }

    public String result() {
        return result;
    }

    /** The parts by name, in order. */
    public Map<String, String> parts() {
        return Collections.unmodifiableMap(parts);
    }

    /** The files and folders whose contents are among the parts. */
    public Set<Path> paths() {
        return Collections.unmodifiableSet(paths);
    }

    /** Regular files below a folder in a stable order, also by links, as compilers and readers find them; none if there is no such folder. */
    public static List<Path> filesBelow(Path folder) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(folder, FileVisitOption.FOLLOW_LINKS)) {
            return files.filter(Files::isRegularFile).sorted().toList();
        } catch (IOException | UncheckedIOException e) {
            throw FileFailure.of("cannot list", folder, e);
        }
    }

    /** SHA-256 of a file's content, or {@code absent}. */
    public static String digest(Path file) {
        return Files.isRegularFile(file) ? Digests.sha256(file) : ABSENT;
    }

    /** Whether a value is a digest, which is meaningless to people. */
    public static boolean isDigest(String value) {
        return value.matches("[0-9a-f]{64}");
    }

    /** A component of a record that results do not depend on, so that no {@link Fingerprint} has it. All other components are inputs. */
    @Documented
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.RECORD_COMPONENT)
    public @interface NoInput {
        /** The results that do not depend on it, by the name of their step; empty for all. */
        String[] of() default {};

        /** Why they are the same whatever its value. */
        String because();
    }

    /**
     * The inputs and outputs of a result.
     *
     * @param inputs parts of the {@link Fingerprint} by name
     * @param outputs digests of the files written, by their path below one folder
     */
    public record Made(SortedMap<String, String> inputs, SortedMap<String, String> outputs) {
        public Made {
            inputs = new TreeMap<>(inputs);
            outputs = new TreeMap<>(outputs);
        }

        /** A new result with outputs whose digests are known. */
        public static Made of(Fingerprint from, Map<String, String> outputs) {
            return new Made(new TreeMap<>(from.parts()), new TreeMap<>(outputs));
        }

        /**
         * A new result.
         *
         * @param root folder to which the outputs' names are relative
         * @param outputs files below it
         */
        public static Made of(Fingerprint from, Path root, Collection<Path> outputs) {
            Map<String, String> digests = new TreeMap<>();
            outputs.forEach(output ->
                    digests.put(root.relativize(output).toString().replace('\\', '/'), Fingerprint.digest(output)));
            return of(from, digests);
        }

        /** Changed inputs: first new and different ones, then missing ones, each by name. */
        public List<Change> changes(Fingerprint now) {
            List<Change> changes = new ArrayList<>();
            now.parts().forEach((name, value) -> {
                if (!Objects.equals(inputs.get(name), value)) {
                    changes.add(new Change(name, Optional.ofNullable(inputs.get(name)), Optional.of(value)));
                }
            });
            inputs.forEach((name, value) -> {
                if (!now.parts().containsKey(name)) {
                    changes.add(new Change(name, Optional.of(value), Optional.empty()));
                }
            });
            return changes;
        }

        /**
         * Outputs changed since, by name.
         *
         * @param root folder to which their names are relative
         */
        public List<Change> outputChanges(Path root) {
            List<Change> changes = new ArrayList<>();
            outputs.forEach((name, before) -> {
                Optional<String> now = FileDigests.digest(root.resolve(name));
                if (!now.equals(Optional.of(before))) {
                    changes.add(new Change(name, Optional.of(before), now));
                }
            });
            return changes;
        }

        /**
         * A changed input or output of a result.
         *
         * @param name name of the input or output
         * @param before its earlier value: a setting, or the digest of a file; empty if it is new
         * @param now its current value; empty if it no longer exists
         */
        public record Change(String name, Optional<String> before, Optional<String> now) {}

        /** Inputs and outputs of results, kept in a JSON file between builds. An unreadable file, such as one damaged by a power failure, counts as empty. */
        public record Journal(Path file) {
            private static final int FORMAT = 3;

            /** The results by name. */
            public Map<String, Made> read() {
                Map<String, Made> results = new TreeMap<>();
                Optional<JsonNode> root = parse();
                if (root.isPresent() && root.get().path("format").asInt() == FORMAT) {
                    root.get()
                            .path("results")
                            .properties()
                            .forEach(named -> results.put(
                                    named.getKey(),
                                    new Made(
                                            texts(named.getValue().path("inputs")),
                                            texts(named.getValue().path("outputs")))));
                }
                return results;
            }

            /** The result of this name; empty if unknown. */
            public Optional<Made> read(String name) {
                return Optional.ofNullable(read().get(name));
            }

            /** Replaces the results in the file. */
            public void write(Map<String, Made> results) {
                ObjectNode root = JsonNodeFactory.instance.objectNode();
                root.put("format", FORMAT);
                ObjectNode list = root.putObject("results");
                new TreeMap<>(results).forEach((name, result) -> {
                    ObjectNode node = list.putObject(name);
                    result.inputs().forEach(node.putObject("inputs")::put);
                    result.outputs().forEach(node.putObject("outputs")::put);
                });
                try {
                    ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
                    WholeFiles.write(file, mapper.writeValueAsBytes(root));
                } catch (JsonProcessingException e) {
                    throw new IllegalStateException("a tree of text can always be written", e);
                }
            }

            /** Deletes the content before outputs are touched, so that a run that fails half-way never counts as finished. */
            public void forget() {
                WholeFiles.delete(file);
            }

            private Optional<JsonNode> parse() {
                try {
                    return Files.isRegularFile(file)
                            ? Optional.ofNullable(new ObjectMapper().readTree(Files.readAllBytes(file)))
                            : Optional.empty();
                } catch (IOException e) {
                    return Optional.empty();
                }
            }

            private static SortedMap<String, String> texts(JsonNode node) {
                SortedMap<String, String> texts = new TreeMap<>();
                node.properties()
                        .forEach(entry ->
                                texts.put(entry.getKey(), entry.getValue().asText()));
                return texts;
            }
        }

        /**
         * Digests of files' contents, each read once. Names are relative to one folder. A tool may read a file at any moment of
         * its run, so its input is known only if the file was the same before and after.
         */
        public static final class FileDigests {
            private final Path folder;
            private final Map<Path, Optional<String>> known = new ConcurrentHashMap<>();

            /** Digests of files whose names are relative to a folder. */
            public FileDigests(Path folder) {
                this.folder = folder;
            }

            /** The digest of a file; empty if the name is not that of an existing file. */
            public Optional<String> of(String name) {
                try {
                    return known.computeIfAbsent(path(name), FileDigests::digest);
                } catch (InvalidPathException e) {
                    return Optional.empty();
                }
            }

            /**
             * Digest of a file read by a tool that has run between a time and now; empty if the file changed since that time,
             * or was deleted.
             *
             * @param began time before the tool was started; files whose digests were requested earlier are compared with those
             */
            public Optional<String> read(String name, Instant began) {
                Path file = path(name);
                Optional<String> before = Optional.ofNullable(known.get(file)).flatMap(digest -> digest);
                if (known.containsKey(file)) {
                    return before.filter(digest -> digest(file).equals(Optional.of(digest)));
                }
                try {
                    return Files.getLastModifiedTime(file).toInstant().isAfter(began) ? Optional.empty() : of(name);
                } catch (IOException e) {
                    return Optional.empty();
                }
            }

            private Path path(String name) {
                return folder.resolve(name).normalize();
            }

            /** Digest of a file's content; empty if there is no such file, or it cannot be read. */
            public static Optional<String> digest(Path file) {
                try {
                    return Files.isRegularFile(file) ? Optional.of(Digests.sha256(file)) : Optional.empty();
                } catch (KilnException e) {
                    return Optional.empty();
                }
            }
        }
    }
}
