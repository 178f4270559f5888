// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Collects problems, so that a user sees all errors at once. Not thread-safe. */
public final class Problems {
    private final Failure family;
    private final List<Problem> found = new ArrayList<>();

    /**
     * An empty list.
     *
     * @param family of the problems that come without one
     */
    public Problems(Failure family) {
        this.family = family;
    }

    public void add(Problem problem) {
        found.add(problem);
    }

    public void add(String what, String where, String expected, String next) {
        add(family.problem(what, where, expected, next));
    }

    public void add(String what, String where, String expected) {
        add(family.problem(what, where, expected));
    }

    public void add(String what, String where) {
        add(family.problem(what, where));
    }

    /** Runs a check, and takes what it throws. */
    public void collect(Runnable check) {
        try {
            check.run();
        } catch (KilnException e) {
            found.addAll(e.problems());
        }
    }

    /** The value, or empty if there is none because of problems, which are taken. */
    public <T> Optional<T> read(Supplier<T> value) {
        try {
            return Optional.of(value.get());
        } catch (KilnException e) {
            found.addAll(e.problems());
            return Optional.empty();
        }
    }

    public boolean isEmpty() {
        return found.isEmpty();
    }

    public List<Problem> list() {
        return List.copyOf(found);
    }

    /** Throws all problems; does nothing if there are none. */
    public void throwIfAny() {
        if (!found.isEmpty()) {
            throw new KilnException(found);
        }
    }
}
