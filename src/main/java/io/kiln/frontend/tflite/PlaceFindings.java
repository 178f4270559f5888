// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Collects the problems at one place of the file. The text of the place is built only when there is a problem. */
final class PlaceFindings {
    private final Supplier<String> where;
    private final List<Problem> problems = new ArrayList<>();

    PlaceFindings(Supplier<String> where) {
        this.where = where;
    }

    void add(String what, String expected, String next) {
        problems.add(new Problem(what, where.get(), expected, next));
    }

    /** The place as text. */
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
