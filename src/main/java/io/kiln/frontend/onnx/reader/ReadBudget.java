// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.reader;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.util.Locale;

/** Counts bytes derived from a file, so that a small file cannot fill the memory. */
public final class ReadBudget {
    private final String file;
    private final long most;
    private long left;

    public ReadBudget(String file, long most) {
        this.file = file;
        this.most = most;
        this.left = most;
    }

    /** Bytes taken so far. */
    public long spent() {
        return most - left;
    }

    /** Takes bytes from the budget. */
    public void spend(long bytes) {
        left -= bytes;
        if (bytes < 0 || left < 0) {
            throw new KilnException(Failure.MODEL.problem(
                    String.format(Locale.ROOT, "the model's constants take more than %,d bytes", most),
                    file,
                    "a model that fits the board",
                    "kiln.limit.model raises the limit"));
        }
    }
}
