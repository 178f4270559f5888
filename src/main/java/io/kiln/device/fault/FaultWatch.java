// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.fault;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Looks for the fault handler's line in an image's output, and passes all output on. Thread-safe. */
public final class FaultWatch implements Consumer<String> {
    private static final int LONGEST_LINE = 400;

    private final Consumer<String> next;
    private final StringBuilder line = new StringBuilder();
    private Optional<String> reported = Optional.empty();

    /**
     * @param next gets the same text
     */
    public FaultWatch(Consumer<String> next) {
        this.next = next;
    }

    @Override
    public synchronized void accept(String text) {
        next.accept(text);
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (character != '\n') {
                line.append(character);
                line.delete(0, Math.max(0, line.length() - LONGEST_LINE));
            } else {
                String whole = line.toString();
                line.setLength(0);
                if (FaultReport.isStackOverflow(whole) || FaultReport.in(whole).isPresent()) {
                    reported = Optional.of(whole);
                }
            }
        }
    }

    /**
     * The last reported fault, if any.
     *
     * @param image ELF file that ran, for the names of functions and lines; without one, addresses stay bare
     */
    public synchronized Optional<Problem> problem(Path image) {
        return reported.map(text -> FaultReport.in(text)
                .filter(report -> !FaultReport.isStackOverflow(text))
                .map(report -> fault(report, ImageSymbols.of(image)))
                .orElseGet(() -> new Problem(
                        "the stack overflowed",
                        "",
                        "",
                        "Give it more: flags: {symbols: {__stack_size: 8K}} in board.yaml; or put large arrays outside"
                                + " of functions")));
    }

    /** As {@link #problem}, but returns each fault only once. */
    public synchronized Optional<Problem> take(Path image) {
        Optional<Problem> problem = problem(image);
        reported = Optional.empty();
        return problem;
    }

    /**
     * The same exception, with the fault before its problems.
     *
     * @param image as in {@link #problem}
     */
    public KilnException explained(KilnException e, Path image) {
        Optional<Problem> fault = problem(image);
        if (fault.isEmpty()) {
            return e;
        }
        List<Problem> problems = new ArrayList<>(List.of(fault.get()));
        problems.addAll(e.problems());
        KilnException more = new KilnException(problems);
        more.initCause(e);
        return more;
    }

    private static Problem fault(FaultReport report, ImageSymbols names) {
        String where = names.name(report.pc());
        // The call precedes its return address, whose lowest bit marks Thumb code.
        long call = (report.caller() & ~1L) - 1;
        if (names.isCode(call)) {
            where += ", called from " + names.name(call);
        }
        return new Problem(
                "the image stopped with a fault: " + FaultCause.text(report),
                where,
                "",
                FaultCause.isImprecise(report)
                        ? "The core reports an instruction after the write. On Cortex-M3 and -M4, flags: {defines:"
                                + " {KILN_PRECISE_WRITES: 1}} in board.yaml has each write wait for its answer"
                        : "");
    }
}
