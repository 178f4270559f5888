// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.List;

/**
 * The only exception of the engine for errors that a user can fix, with all problems found. A subclass tells callers the kind of failure.
 */
public class KilnException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Most characters of a message: a thousand problems of a line each. A single problem is bounded by itself. */
    private static final int MOST_CHARACTERS = 1 << 18;

    private final transient List<Problem> problems;

    public KilnException(List<Problem> problems) {
        super(message(problems));
        this.problems = List.copyOf(problems);
    }

    public KilnException(Problem problem) {
        this(List.of(problem));
    }

    public KilnException(Problem problem, Throwable cause) {
        this(List.of(problem));
        initCause(cause);
    }

    /** Every problem, in the order found; never empty. */
    public List<Problem> problems() {
        return problems;
    }

    /** The message, and where to read on: what the build prints when a goal fails. */
    public String told() {
        return getMessage() + "\n" + Failure.told(problems);
    }

    /** A copy whose problems at the place {@code from} are at the place {@code to} instead; this exception is its cause. */
    public KilnException relocated(String from, String to) {
        KilnException relocated = new KilnException(problems.stream()
                .map(each -> each.where().equals(from) ? each.at(to) : each)
                .toList());
        relocated.initCause(this);
        return relocated;
    }

    private static String message(List<Problem> problems) {
        if (problems.isEmpty()) {
            throw new IllegalArgumentException("a KilnException needs a problem");
        }
        if (problems.size() == 1) {
            return problems.get(0).text();
        }
        StringBuilder message = new StringBuilder(problems.size() + " problems:");
        for (int i = 0; i < problems.size(); i++) {
            String text = "\n  - " + problems.get(i).text();
            if (i > 0 && message.length() + text.length() > MOST_CHARACTERS) {
                return message.append("\n\u2026 ")
                        .append(problems.size() - i)
                        .append(" more problems")
                        .toString();
            }
            message.append(text);
        }
        return message.toString();
    }
}
