// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import java.util.Optional;
import java.util.function.Predicate;

/** Waits for a text that may arrive in pieces; without a text it never ends. Not thread-safe. */
public final class AwaitedText implements Predicate<String> {
    private final Optional<String> text;
    private final StringBuilder recent = new StringBuilder();

    public AwaitedText(Optional<String> text) {
        this.text = text;
    }

    @Override
    public boolean test(String piece) {
        if (text.isEmpty()) {
            return false;
        }
        recent.append(piece);
        boolean came = recent.indexOf(text.get()) >= 0;
        recent.delete(0, Math.max(0, recent.length() - text.get().length()));
        return came;
    }
}
