// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import java.util.Locale;

/** The kind of code that calls a model's operators in order. */
public enum ExecutorKind {
    /** A C function generated ahead of time. */
    AOT;

    /** Its name among {@code executors} in {@code metadata.json}. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
