// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Collects what is wrong at one place of the file; the place is put into words only if something is. */
final class Findings {
    private final Supplier<String> where;
    private final List<Problem> problems = new ArrayList<>();

    Findings(Supplier<String> where) {
        this.where = where;
    }

    void add(String what, String expected, String next) {
        problems.add(new Problem(what, where.get(), expected, next));
    }

    /** The place in words. */
    String where() {
        return where.get();
    }

    int count() {
        return problems.size();
    }

    /** Throws all that was found; does nothing if nothing was. */
    void throwIfAny() {
        if (!problems.isEmpty()) {
            throw new KilnException(problems);
        }
    }

    /** Everything found so far, as an exception; something must have been found. */
    KilnException exception() {
        return new KilnException(problems);
    }
}
