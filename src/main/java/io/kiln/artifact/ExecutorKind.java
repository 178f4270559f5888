// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.base.ParameterValue;

/** What calls a model's operators in order: {@code kiln.executor}. */
public enum ExecutorKind {
    /** A C function generated ahead of time. */
    AOT,

    /** An interpreter of the runtime, or of a host, which walks a graph and finds operators by their names. */
    GRAPH,

    /** Nothing: the operators stand for themselves, each to be called by its name. */
    NONE;

    /**
     * Reads the value of {@code kiln.executor}.
     *
     * @throws io.kiln.base.KilnException for any other value, with the list of values
     */
    public static ExecutorKind of(String text) {
        return ParameterValue.of("kiln.executor", ExecutorKind.class, text);
    }

    /** The parameter's value, and the name among {@code executors} in {@code metadata.json}. */
    public String text() {
        return ParameterValue.text(this);
    }
}
