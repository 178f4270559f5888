// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.tensor;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Collects the problems at one place of the file. The text of the place is built only when there is a problem. */
public final class PlaceFindings {
    private final Supplier<String> where;
    private final List<Problem> problems = new ArrayList<>();

    public PlaceFindings(Supplier<String> where) {
        this.where = where;
    }

    public void add(String what, String expected, String next) {
        problems.add(Failure.OPERATOR.problem(what, where.get(), expected, next));
    }

    /** The place as text. */
    public String where() {
        return where.get();
    }

    public int count() {
        return problems.size();
    }

    /** Throws all problems; does nothing if there are none. */
    public void throwIfAny() {
        if (!problems.isEmpty()) {
            throw new KilnException(problems);
        }
    }

    /** All problems as an exception; there must be at least one. */
    public KilnException exception() {
        return new KilnException(problems);
    }
}
