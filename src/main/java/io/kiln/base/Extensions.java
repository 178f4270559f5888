// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.Function;
import java.util.function.Supplier;

/** Code of others that takes part in a build, such as the services of a plugin's dependencies. Whatever it throws becomes a message. */
public final class Extensions {
    private Extensions() {}

    /**
     * An instance of each service of a type.
     *
     * @param kind what the services are, for messages
     * @param from where they are looked for
     * @throws KilnException naming the service that cannot be loaded
     */
    public static <S> List<S> services(Class<S> type, String kind, ClassLoader from) {
        return call(
                () -> ServiceLoader.load(type, from).stream()
                        .map(ServiceLoader.Provider::get)
                        .toList(),
                why -> new KilnException(new Problem(
                        "it could not be loaded: " + why,
                        kind + " that is a service of " + type.getName(),
                        "",
                        "Report this to its maker, or take it out of the plugin's dependencies")));
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
