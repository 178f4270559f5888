// SPDX-License-Identifier: Apache-2.0
package io.kiln.base.incremental;

import io.kiln.base.Bytes;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** Values of a type in which nothing is empty, and all that differ from one in a single place, found by reflection. */
public final class Variants {
    private final Map<Class<?>, List<?>> given;

    /**
     * @param given two or more values of each type that is no record
     */
    public Variants(Map<Class<?>, List<?>> given) {
        this.given = Map.copyOf(given);
    }

    /**
     * A value that differs from another in one place.
     *
     * @param value the whole
     * @param places what was changed, from the outside in: {@code Record.component}
     */
    public record Variant(Object value, List<String> places) {
        private Variant in(Object whole, String place) {
            List<String> longer = new ArrayList<>(List.of(place));
            longer.addAll(places);
            return new Variant(whole, longer);
        }

        private Variant in(Object whole) {
            return new Variant(whole, places);
        }
    }

    private static Variant of(Object value) {
        return new Variant(value, List.of());
    }

    /** A value of a type; of a sealed one the first kind. */
    public Object sample(Type type) {
        return sample(type, 0);
    }

    private Object sample(Type type, int number) {
        Class<?> raw = raw(type);
        if (given.containsKey(raw)) {
            return given.get(raw).get(number);
        }
        if (raw.isRecord()) {
            return build(
                    raw,
                    Arrays.stream(raw.getRecordComponents())
                            .map(component -> sample(component.getGenericType(), number))
                            .toArray());
        }
        if (raw.isSealed()) {
            return sample(raw.getPermittedSubclasses()[number], number);
        }
        if (raw.isEnum()) {
            return raw.getEnumConstants()[number];
        }
        return type instanceof ParameterizedType generic ? container(raw, generic, number) : scalar(raw, number);
    }

    private Object container(Class<?> raw, ParameterizedType generic, int number) {
        List<Object> inner = Arrays.stream(generic.getActualTypeArguments())
                .map(argument -> sample(argument, number))
                .toList();
        if (raw == Optional.class) {
            return Optional.of(inner.get(0));
        }
        if (raw == List.class) {
            return inner;
        }
        if (raw == Set.class) {
            return Set.copyOf(inner);
        }
        if (raw == SortedMap.class || raw == Map.class) {
            return new TreeMap<>(Map.of(inner.get(0), inner.get(1)));
        }
        throw new IllegalArgumentException("no sample of " + generic);
    }

    private static Object scalar(Class<?> raw, int number) {
        Map<Class<?>, Object> values = Map.ofEntries(
                Map.entry(String.class, "text " + number),
                Map.entry(int.class, 4 + number),
                Map.entry(Integer.class, 4 + number),
                Map.entry(long.class, 8L + number),
                Map.entry(boolean.class, number == 0),
                Map.entry(Double.class, 0.5 + number),
                Map.entry(Long.class, 16L + number),
                Map.entry(Bytes.class, Bytes.ofText("bytes " + number)),
                Map.entry(Duration.class, Duration.ofSeconds(1 + number)),
                Map.entry(Instant.class, Instant.ofEpochSecond(1 + number)),
                Map.entry(OptionalInt.class, OptionalInt.of(64 + number)),
                Map.entry(OptionalLong.class, OptionalLong.of(32 + number)));
        if (!values.containsKey(raw)) {
            throw new IllegalArgumentException("no sample of " + raw);
        }
        return values.get(raw);
    }

    /** All values of the type that differ from one in a single place. */
    public List<Variant> of(Type type, Object value) {
        Class<?> raw = raw(type);
        List<Variant> all = new ArrayList<>();
        if (given.containsKey(raw)) {
            given.get(raw).stream().filter(other -> !other.equals(value)).forEach(other -> all.add(of(other)));
        } else if (raw.isRecord()) {
            all.addAll(ofRecord(raw, value));
        } else if (raw.isSealed()) {
            for (Class<?> kind : raw.getPermittedSubclasses()) {
                all.addAll(kind.isInstance(value) ? of(kind, value) : List.of(of(sample(kind, 0))));
            }
        } else if (raw == OptionalInt.class) {
            all.addAll(List.of(of(OptionalInt.empty()), of(sample(type, 1))));
        } else if (raw == OptionalLong.class) {
            all.addAll(List.of(of(OptionalLong.empty()), of(sample(type, 1))));
        } else if (!raw.isEnum() && type instanceof ParameterizedType container) {
            all.addAll(ofContainer(raw, container, value));
        } else {
            all.add(of(sample(type, 1)));
        }
        return all;
    }

    private List<Variant> ofRecord(Class<?> raw, Object value) {
        List<Variant> all = new ArrayList<>();
        RecordComponent[] components = raw.getRecordComponents();
        Object[] parts = Arrays.stream(components)
                .map(component -> read(component, value))
                .toArray();
        for (int i = 0; i < components.length; i++) {
            String place = raw.getSimpleName() + "." + components[i].getName();
            for (Variant variant : of(components[i].getGenericType(), parts[i])) {
                Object[] changed = parts.clone();
                changed[i] = variant.value();
                all.add(variant.in(build(raw, changed), place));
            }
        }
        return all;
    }

    private List<Variant> ofContainer(Class<?> raw, ParameterizedType generic, Object value) {
        Type inner = generic.getActualTypeArguments()[generic.getActualTypeArguments().length - 1];
        List<Variant> all = new ArrayList<>();
        if (raw == Optional.class) {
            all.add(of(Optional.empty()));
            of(inner, ((Optional<?>) value).orElseThrow())
                    .forEach(variant -> all.add(variant.in(Optional.of(variant.value()))));
        } else if (raw == List.class) {
            Object first = ((List<?>) value).get(0);
            all.add(of(List.of()));
            all.add(of(List.of(first, first)));
            of(inner, first).forEach(variant -> all.add(variant.in(List.of(variant.value()))));
        } else if (raw == Set.class) {
            all.add(of(Set.of()));
            Object first = ((Set<?>) value).iterator().next();
            of(inner, first).forEach(variant -> all.add(variant.in(Set.of(variant.value()))));
        } else {
            Map.Entry<?, ?> first = ((Map<?, ?>) value).entrySet().iterator().next();
            all.add(of(new TreeMap<>()));
            all.add(of(new TreeMap<>(Map.of(sample(generic.getActualTypeArguments()[0], 1), first.getValue()))));
            of(inner, first.getValue())
                    .forEach(variant -> all.add(variant.in(new TreeMap<>(Map.of(first.getKey(), variant.value())))));
        }
        return all;
    }

    private static Object read(RecordComponent component, Object value) {
        try {
            return component.getAccessor().invoke(value);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException("cannot read " + component, e);
        }
    }

    private static Object build(Class<?> raw, Object[] parts) {
        try {
            Constructor<?> constructor = raw.getDeclaredConstructor(Arrays.stream(raw.getRecordComponents())
                    .map(RecordComponent::getType)
                    .toArray(Class<?>[]::new));
            constructor.setAccessible(true);
            return constructor.newInstance(parts);
        } catch (InvocationTargetException e) {
            throw new IllegalArgumentException("no " + raw + " of " + Arrays.toString(parts), e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException("cannot build " + raw, e);
        }
    }

    private static Class<?> raw(Type type) {
        return (Class<?>) (type instanceof ParameterizedType generic ? generic.getRawType() : type);
    }

    /** Two files of one name and different contents, for components that are paths. */
    public static List<Path> twoFiles(Path folder) throws java.io.IOException {
        List<Path> files = new ArrayList<>();
        for (String each : List.of("one", "two")) {
            Path place = java.nio.file.Files.createDirectories(folder.resolve(each));
            files.add(java.nio.file.Files.writeString(place.resolve("file.txt"), each));
        }
        return files;
    }
}
