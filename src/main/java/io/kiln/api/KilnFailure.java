// SPDX-License-Identifier: Apache-2.0
package io.kiln.api;

import io.kiln.base.KilnException;
import java.util.List;
import java.util.function.Supplier;

/** The exception for all errors that a user can mend. It has every problem that was found. */
public final class KilnFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient List<Problem> problems;

    private KilnFailure(KilnException cause) {
        super(cause.getMessage(), cause);
        this.problems = cause.problems().stream()
                .map(each -> new Problem(each.family().id(), each.what(), each.where(), each.expected(), each.next()))
                .toList();
    }

    /**
     * Every problem, in the order found.
     *
     * @return at least one
     */
    public List<Problem> problems() {
        return problems;
    }

    /** Calls the engine, whose failures become those of this package. */
    static <T> T told(Supplier<T> engine) {
        try {
            return engine.get();
        } catch (KilnException e) {
            throw new KilnFailure(e);
        }
    }

    /** As {@link #told(Supplier)} without a result. */
    static void told(Runnable engine) {
        told(() -> {
            engine.run();
            return engine;
        });
    }
}
