// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import io.kiln.artifact.ArchivePaths;

/**
 * A version of the Model Library Format, and how its archives differ from version 7
 * (python/tvm/micro/model_library_format.py and its history).
 *
 * @param number 1 to 7
 */
record FormatVersion(int number) {
    private static final int FUNCTIONS = 2;
    private static final int NAMED_SOURCES = 3;
    private static final int STYLES = 4;
    private static final int EXECUTORS = 5;

    static final FormatVersion OLDEST = new FormatVersion(1);
    static final FormatVersion NEWEST = new FormatVersion(ModelLibraryFormat.SEVERAL_MODELS);

    static boolean isKnown(int number) {
        return number >= OLDEST.number && number <= NEWEST.number;
    }

    /** Whether models are listed under {@code modules}, and their files carry their names. */
    boolean hasModules() {
        return number == NEWEST.number;
    }

    /** Whether {@code memory} states what functions need; earlier it lists the graph executor's allocations. */
    boolean hasFunctions() {
        return number >= FUNCTIONS;
    }

    /** Whether source files carry the model's name; earlier they are called {@code lib0.c} and so on. */
    boolean hasNamedSources() {
        return number >= NAMED_SOURCES;
    }

    /** Whether archives of single operators exist too, marked by {@code style}. */
    boolean hasStyles() {
        return number >= STYLES;
    }

    /** The key that lists the executors. */
    String executorsKey() {
        return number >= EXECUTORS ? "executors" : "runtimes";
    }

    /** Path of the Relay text if it does not carry the model's name. */
    String relay() {
        return number >= STYLES ? ArchivePaths.RELAY_OF_ONE_MODEL : "relay.txt";
    }

    /** Path of the graph if it does not carry the model's name. */
    String graph() {
        return number >= EXECUTORS ? ArchivePaths.GRAPH_OF_ONE_MODEL : "runtime-config/graph/graph.json";
    }
}
