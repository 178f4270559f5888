// SPDX-License-Identifier: Apache-2.0
package io.kiln.base.incremental;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.base.FileFailure;
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
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
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
}
