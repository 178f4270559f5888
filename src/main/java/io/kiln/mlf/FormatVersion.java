// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import io.kiln.artifact.ArchivePaths;

/**
 * A version of the Model Library Format, and what its archives have otherwise than those of version 7
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

    /** Whether models lie under {@code modules}, each with its name in those of its files. */
    boolean hasModules() {
        return number == NEWEST.number;
    }

    /** Whether {@code memory} tells what functions need; before it is a list of what the graph executor allocates. */
    boolean hasFunctions() {
        return number >= FUNCTIONS;
    }

    /** Whether the model's name is in those of its sources; before they are called {@code lib0.c} and so on. */
    boolean hasNamedSources() {
        return number >= NAMED_SOURCES;
    }

    /** Whether single operators can be archived too, and {@code style} tells models from them. */
    boolean hasStyles() {
        return number >= STYLES;
    }

    /** The key of what can run the model. */
    String executorsKey() {
        return number >= EXECUTORS ? "executors" : "runtimes";
    }

    /** Where the Relay text lies if it does not carry the model's name. */
    String relay() {
        return number >= STYLES ? ArchivePaths.RELAY_OF_ONE_MODEL : "relay.txt";
    }
}
