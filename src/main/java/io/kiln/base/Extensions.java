// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Code of others that takes part in a build, such as the services of a plugin's dependencies. Whatever it throws becomes a message. */
public final class Extensions {
    private static final String SERVICES = "META-INF/services/";

    /** The services that others may bring. */
    private static final Set<String> TYPES = Set.of(
            "io.kiln.module.ArtifactLoader",
            "io.kiln.module.ModuleLoader",
            "io.kiln.module.inspect.ArtifactInspector",
            "io.kiln.partition.ExternalCodegen");

    private Extensions() {}

    /**
     * An instance of each service of a type.
     *
     * @param kind what the services are, for messages
     * @param from where they are looked for
     * @throws KilnException naming the service that cannot be loaded
     * @throws IllegalArgumentException if {@link #code} does not know the type
     */
    public static <S> List<S> services(Class<S> type, String kind, ClassLoader from) {
        if (!TYPES.contains(type.getName())) {
            throw new IllegalArgumentException(type + " is no service");
        }
        return call(
                () -> ServiceLoader.load(type, from).stream()
                        .map(ServiceLoader.Provider::get)
                        .toList(),
                why -> new KilnException(Failure.EXTENSION.problem(
                        "it could not be loaded: " + why,
                        kind + " that is a service of " + type.getName(),
                        "",
                        "Report this to its maker, or take it out of the plugin's dependencies")));
    }

    /**
     * Where the code of others lies that takes part in a build: jars and folders of classes with services of Kiln's types, and all else
     * that the same loader loads from, since services may use it. Without services of others, none. Nothing is loaded.
     *
     * @param from where services are looked for
     */
    public static List<Path> code(ClassLoader from) {
        Path own = place(Extensions.class);
        List<Path> others = TYPES.stream()
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
     * Calls code of others and returns its result.
     *
     * @param failure makes an error of a text such as {@code it answered null}
     * @throws KilnException what the code throws itself, or {@code failure} if it throws anything else or returns null
     */
    public static <T> T call(Supplier<T> code, Function<String, KilnException> failure) {
        T result;
        try {
            result = code.get();
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
