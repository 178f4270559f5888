// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.ir.text.Place;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The problems of a graph, each once, with a limit that keeps an untrusted file from filling the memory with messages.
 */
public final class GraphProblems {
    /** Far beyond any real model. */
    private static final int MOST = 1000;

    private final String file;
    private final Set<Problem> problems = new LinkedHashSet<>();
    private final Set<String> warnings = new LinkedHashSet<>();
    private int found;

    /** An empty list. */
    public GraphProblems(String file) {
        this.file = file;
    }

    /**
     * A list with the known problems.
     *
     * @param known earlier problems
     */
    public GraphProblems(String file, Problems known) {
        this.file = file;
        this.problems.addAll(known.list());
    }

    /** The file, for messages. */
    public String file() {
        return file;
    }

    /** Number of problems, earlier ones included. */
    public int found() {
        return found;
    }

    public void addAll(List<Problem> more) {
        more.forEach(this::add);
    }

    public void add(Problem problem) {
        found++;
        if (problems.size() < MOST) {
            problems.add(problem);
        } else if (problems.size() == MOST) {
            problems.add(Failure.MODEL.problem("there are more problems than these " + MOST, file));
        }
    }

    /** A problem of a text. */
    public void add(Place place, String what, String expected, String next) {
        add(Failure.MODEL.problem(what, place.in(file), expected, next));
    }

    public void add(String what, String where, String expected) {
        add(what, () -> where, expected);
    }

    /** The text of the place is built only below the limit: an untrusted file can have millions of problems. */
    public void add(String what, Supplier<String> where, String expected) {
        if (tooMany()) {
            found++;
        } else {
            add(Failure.MODEL.problem(what, where.get(), expected, "Export the model again"));
        }
    }

    /** Notes what does not hold in the file but changes nothing, below the limit. */
    public void warn(Problem problem) {
        if (warnings.size() < MOST) {
            warnings.add(problem.text());
        }
    }

    /** What was noted, each once. */
    public List<String> warnings() {
        return List.copyOf(warnings);
    }

    /** Whether the limit is reached. */
    public boolean tooMany() {
        return problems.size() > MOST;
    }

    public void throwIfAny() {
        if (!problems.isEmpty()) {
            throw new KilnException(List.copyOf(problems));
        }
    }
}
