// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.base.Bytes;

/**
 * One file of a model library.
 *
 * @param codegenId which code generator made it, such as {@code c}, or {@link #FOREIGN}
 * @param loader how it is used
 * @param fileName name relative to its kind's folder, such as {@code default_lib1.c}
 * @param content its bytes
 * @param targetKey the target string for which it was made
 */
public record Artifact(String codegenId, Loader loader, String fileName, Bytes content, String targetKey) {
    /** The {@link #codegenId} of files from an archive. */
    public static final String FOREIGN = "mlf";

    /** How the firmware build uses an artifact; determines its folder in a Model Library Format archive. */
    public enum Loader {
        /** C source: {@code codegen/host/src}. */
        SOURCE,
        /** C header: {@code codegen/host/include}. */
        HEADER,
        /** Object file: {@code codegen/host/lib}. */
        OBJECT,
        /** File of the C runtime: {@code runtime}. */
        RUNTIME,
        /** Relay text: {@code src}. */
        RELAY,
        /** Serialised parameters: {@code parameters}. */
        PARAMETERS,
        /** A template: {@code templates}. */
        TEMPLATE,
        /** The graph that the graph executor walks, as JSON: {@code executor-config/graph}. */
        GRAPH
    }

    /** Whether it came from an archive rather than from Kiln's own compiler. */
    public boolean isForeign() {
        return codegenId.equals(FOREIGN);
    }

    /** The content as UTF-8 text. */
    public String text() {
        return content.text();
    }

    /** A text artifact in UTF-8. */
    public static Artifact ofText(String codegenId, Loader loader, String fileName, String text, String targetKey) {
        return new Artifact(codegenId, loader, fileName, Bytes.ofText(text), targetKey);
    }
}
