// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import java.util.Arrays;
import java.util.Locale;
import java.util.Set;

/**
 * What an artifact is for the firmware build and the archive. It follows from the loader's name and, for native code, from the suffix of the
 * file.
 */
public enum ArtifactKind {
    /** Source that is linked with the host core: {@code codegen/<key>/src}. */
    SOURCE(Artifact.NATIVE),
    /** Header: {@code codegen/<key>/include}. */
    HEADER(Artifact.NATIVE),
    /** Object file or static library: {@code codegen/<key>/lib}. */
    OBJECT(Artifact.NATIVE),
    /** File of the C runtime: {@code runtime}. */
    RUNTIME("runtime"),
    /** Relay text: {@code src}. */
    RELAY("relay"),
    /** Serialised parameters: {@code parameters}. */
    PARAMETERS("params"),
    /** A template: {@code templates}. */
    TEMPLATE("template"),
    /** The graph that the graph executor walks, as JSON: {@code executor-config/graph}. */
    GRAPH("graph"),
    /** What a loader of its own takes, such as a command stream: {@code codegen/<key>/<loader>}. */
    PAYLOAD("");

    private static final Set<String> OBJECTS = Set.of("o", "a", "obj");
    private static final Set<String> HEADERS = Set.of("h", "hh", "hpp", "hxx", "inc", "def");

    private final String loader;

    ArtifactKind(String loader) {
        this.loader = loader;
    }

    /** The loader of these artifacts; empty for {@link #PAYLOAD}, whose loader can have any other name. */
    public String loader() {
        return loader;
    }

    /** Whether these files make the program of the host core. */
    public boolean isNative() {
        return loader.equals(Artifact.NATIVE);
    }

    /**
     * The kind of an artifact.
     *
     * @param loader the loader's name; {@code dso} is another name of {@code native}
     */
    public static ArtifactKind of(String loader, String fileName) {
        if (loader.equals(Artifact.NATIVE) || loader.equals(Artifact.DSO)) {
            String suffix = fileName.substring(fileName.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
            return OBJECTS.contains(suffix) ? OBJECT : HEADERS.contains(suffix) ? HEADER : SOURCE;
        }
        return Arrays.stream(values())
                .filter(kind -> kind.loader.equals(loader))
                .findFirst()
                .orElse(PAYLOAD);
    }
}
