// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/** The problems of a graph, each once, and at most so many that the messages of a hostile file do not fill the memory. */
final class GraphProblems {
    /** Far beyond any real model. */
    private static final int MOST = 1000;

    private final String file;
    private final Set<Problem> problems = new LinkedHashSet<>();
    private int found;

    /**
     * An empty list but for the known problems.
     *
     * @param known problems found before
     */
    GraphProblems(String file, Problems known) {
        this.file = file;
        this.problems.addAll(known.list());
    }

    /** Counts problems as they occur, those told before included. */
    int found() {
        return found;
    }

    void addAll(List<Problem> more) {
        found += more.size();
        for (Problem problem : more) {
            if (problems.size() < MOST) {
                problems.add(problem);
            } else if (problems.size() == MOST) {
                problems.add(Problem.of("there are more problems than these " + MOST, file));
            }
        }
    }

    void add(String what, String where, String expected) {
        add(what, () -> where, expected);
    }

    /** The place is put into words only while problems are still told: a hostile file has millions. */
    void add(String what, Supplier<String> where, String expected) {
        if (tooMany()) {
            found++;
        } else {
            addAll(List.of(new Problem(what, where.get(), expected, "Export the model again")));
        }
    }

    /** Whether no further problem would be told. */
    boolean tooMany() {
        return problems.size() > MOST;
    }

    /** Ends the import if anything was found. */
    void throwIfAny() {
        if (!problems.isEmpty()) {
            throw new KilnException(List.copyOf(problems));
        }
    }
}
