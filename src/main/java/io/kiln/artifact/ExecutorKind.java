// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import java.util.Locale;

/** What calls a model's operators in order. */
public enum ExecutorKind {
    /** A C function that is generated ahead of time. */
    AOT;

    /** As {@code metadata.json} names it among {@code executors}. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
