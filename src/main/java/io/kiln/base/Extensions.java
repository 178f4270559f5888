// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import io.kiln.spi.ExtensionFailure;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Code of others that takes part in a build, such as the services of a plugin's dependencies. Whatever it throws becomes a message. */
public final class Extensions {
    private static final String SERVICES = "META-INF/services/";

    /** The services that others may bring: by the name in the interface that lasts, the engine's own type. */
    private static final Map<String, String> TYPES = Map.of(
            "io.kiln.spi.ArtifactLoader", "io.kiln.module.ArtifactLoader",
            "io.kiln.spi.ModuleLoader", "io.kiln.module.ModuleLoader",
            "io.kiln.spi.ArtifactInspector", "io.kiln.module.inspect.ArtifactInspector",
            "io.kiln.spi.CodeGenerator", "io.kiln.partition.ExternalCodegen",
            "io.kiln.spi.ImageRunner", "io.kiln.spi.ImageRunner");

    private Extensions() {}

    /** Makes a service of the interface that lasts one of the engine's. */
    public interface Adapter {
        /** What others wrote. */
        Object service();
    }

    /** The name of the class that others wrote, for messages. */
    public static String name(Object service) {
        return (service instanceof Adapter adapter ? adapter.service() : service)
                .getClass()
                .getName();
    }

    /**
     * An instance of each service of a type: first those of the engine's own, then those of the interface that lasts.
     *
     * @param type the engine's type
     * @param promised the type in the interface that lasts
     * @param adapter makes the former of the latter
     * @param kind what the services are, for messages
     * @param from where they are looked for
     * @throws KilnException naming the service that cannot be loaded
     * @throws IllegalArgumentException if {@link #code} does not know the types
     */
    public static <S, P> List<S> services(
            Class<S> type, Class<P> promised, Function<P, S> adapter, String kind, ClassLoader from) {
        if (!type.getName().equals(TYPES.get(promised.getName()))) {
            throw new IllegalArgumentException(promised + " is no service");
        }
        List<S> all = new ArrayList<>(services(type, kind, from));
        services(promised, kind, from).forEach(service -> all.add(adapter.apply(service)));
        return all;
    }

    /**
     * An instance of each service of a type.
     *
     * @param kind what the services are, for messages
     * @param from where they are looked for
     * @throws KilnException naming the service that cannot be loaded
     * @throws IllegalArgumentException if {@link #code} does not know the type
     */
    public static <S> List<S> services(Class<S> type, String kind, ClassLoader from) {
        if (!TYPES.containsKey(type.getName()) && !TYPES.containsValue(type.getName())) {
            throw new IllegalArgumentException(type + " is no service");
        }
        return call(
                () -> ServiceLoader.load(type, from).stream()
                        .map(ServiceLoader.Provider::get)
                        .toList(),
                why -> Failure.EXTENSION.exception(
                        "it could not be loaded: " + why,
                        kind + " that is a service of " + type.getName(),
                        "",
                        "Report this to its maker, or take it out of the plugin's dependencies"));
    }

    /**
     * Where the code of others lies that takes part in a build: jars and folders of classes with services of Kiln's types, and all else
     * that the same loader loads from, since services may use it. Without services of others, none. Nothing is loaded.
     *
     * @param from where services are looked for
     */
    public static List<Path> code(ClassLoader from) {
        Path own = place(Extensions.class);
        List<Path> others = Stream.concat(TYPES.keySet().stream(), TYPES.values().stream())
                .distinct()
                .sorted()
                .flatMap(type -> resources(SERVICES + type, from).stream().map(url -> place(url, SERVICES + type)))
                .filter(place -> !place.equals(own))
                .distinct()
                .toList();
        if (others.isEmpty() || !(from instanceof URLClassLoader loader)) {
            return others;
        }
        Stream<Path> all =
                Arrays.stream(loader.getURLs()).map(url -> place(url, "")).filter(place -> !place.equals(own));
        return Stream.concat(others.stream(), all).distinct().toList();
    }

    /**
     * What to tell of services of others whose type promises nothing.
     *
     * @param from where services are looked for
     * @return a line for each type and place, sorted
     */
    public static List<String> outdated(ClassLoader from) {
        Path own = place(Extensions.class);
        return TYPES.entrySet().stream()
                .filter(type -> !type.getKey().equals(type.getValue()))
                .sorted(Map.Entry.comparingByKey())
                .flatMap(type -> resources(SERVICES + type.getValue(), from).stream()
                        .map(url -> place(url, SERVICES + type.getValue()))
                        .filter(place -> !place.equals(own))
                        .distinct()
                        .map(place -> place.getFileName() + " has a service of " + type.getValue()
                                + ", which may change in any version; " + type.getKey() + " lasts"))
                .toList();
    }

    /** The jar or the folder from which a class was loaded. */
    public static Path place(Class<?> type) {
        return place(type.getProtectionDomain().getCodeSource().getLocation(), "");
    }

    private static List<URL> resources(String name, ClassLoader from) {
        try {
            return Collections.list(from.getResources(name));
        } catch (IOException e) {
            throw new KilnException(
                    Failure.EXTENSION.problem("a jar of the plugin cannot be read: " + e.getMessage(), name), e);
        }
    }

    /**
     * The jar or folder of a resource.
     *
     * @param name the resource; empty for an address of the jar or folder itself
     */
    private static Path place(URL url, String name) {
        String text = url.toString();
        String whole = text.substring(0, text.length() - name.length());
        try {
            return Path.of(URI.create(whole.startsWith("jar:") ? whole.substring(4, whole.lastIndexOf("!/")) : whole));
        } catch (IllegalArgumentException | FileSystemNotFoundException e) {
            throw new KilnException(Failure.EXTENSION.problem("a part of the plugin is not a file: " + url, ""), e);
        }
    }

    /**
     * Calls code of others.
     *
     * @return its result
     * @throws KilnException with the parts of an {@link ExtensionFailure}
     */
    public static <T> T told(Supplier<T> code) {
        try {
            return code.get();
        } catch (ExtensionFailure e) {
            throw new KilnException(
                    Failure.EXTENSION.problem(String.valueOf(e.getMessage()), e.where(), e.expected(), e.next()), e);
        }
    }

    /**
     * Calls code of others and returns its result.
     *
     * @param failure makes an error of a text such as {@code it answered null}
     * @throws KilnException what the code throws itself, or {@code failure} if it throws anything else or returns null
     */
    public static <T> T call(Supplier<T> code, Function<String, KilnException> failure) {
        T result;
        try {
            result = told(code);
        } catch (KilnException e) {
            throw e;
        } catch (Exception | LinkageError | AssertionError | StackOverflowError | ServiceConfigurationError e) {
            // Languages other than Java throw checked exceptions anywhere.
            throw failure.apply(String.valueOf(e));
        }
        if (result == null) {
            throw failure.apply("it answered null");
        }
        return result;
    }
}
