// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.value;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.ir.text.Place;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Collects the problems of a text, each once and with its place, up to a limit. */
public final class Findings {
    /** Limit that keeps an untrusted text from filling the memory with messages. */
    private static final int MAX_PROBLEMS = 1000;

    private final String file;
    private final Set<Problem> problems = new LinkedHashSet<>();
    private int count;

    public Findings(String file) {
        this.file = file;
    }

    public String file() {
        return file;
    }

    public void add(Problem problem) {
        count++;
        if (problems.size() < MAX_PROBLEMS) {
            problems.add(problem);
        } else if (problems.size() == MAX_PROBLEMS) {
            problems.add(Failure.MODEL.problem("there are more problems than these " + MAX_PROBLEMS, file));
        }
    }

    public void add(Place place, String what, String expected, String next) {
        add(Failure.MODEL.problem(what, place.in(file), expected, next));
    }

    /** Number of problems so far, to tell whether a step found any. */
    public int count() {
        return count;
    }

    public void throwIfAny() {
        if (!problems.isEmpty()) {
            throw new KilnException(List.copyOf(problems));
        }
    }
}
