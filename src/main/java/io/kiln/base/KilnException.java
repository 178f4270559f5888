// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The only exception of the engine for errors that a user can fix, with all problems found. A subclass tells callers the kind of failure. */
public class KilnException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Most characters of a message: a thousand problems of a line each. A single problem is bounded by itself. */
    private static final int MOST_CHARACTERS = 1 << 18;

    /** Problems that differ by their places alone are listed one by one up to this number. */
    private static final int MOST_ALIKE = 3;

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
        List<String> texts = texts(problems);
        if (texts.size() == 1) {
            return texts.get(0);
        }
        StringBuilder message = new StringBuilder(problems.size() + " problems:");
        for (int i = 0; i < texts.size(); i++) {
            String text = "\n  - " + texts.get(i);
            if (i > 0 && message.length() + text.length() > MOST_CHARACTERS) {
                return message.append("\n\u2026 ")
                        .append(texts.size() - i)
                        .append(" more problems")
                        .toString();
            }
            message.append(text);
        }
        return message.toString();
    }

    /** The problems' texts in the order found; more than a few that differ by their places alone are one. */
    private static List<String> texts(List<Problem> problems) {
        Map<Problem, List<Problem>> alike = new HashMap<>();
        problems.forEach(each ->
                alike.computeIfAbsent(each.at(""), key -> new ArrayList<>()).add(each));
        Set<Problem> told = new HashSet<>();
        List<String> texts = new ArrayList<>();
        for (Problem each : problems) {
            List<Problem> group = alike.get(each.at(""));
            if (group.size() <= MOST_ALIKE) {
                texts.add(each.text());
            } else if (told.add(each.at(""))) {
                String last = Printable.line(group.get(group.size() - 1).where());
                texts.add(
                        each.text() + " The same at " + (group.size() - 1) + " more places, the last is " + last + ".");
            }
        }
        return texts;
    }
}
