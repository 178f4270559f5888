// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.fault;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Looks for the fault handler's line in an image's output, and passes all output on. Thread-safe. */
public final class FaultWatch implements Consumer<String> {
    private static final int LONGEST_LINE = 400;

    private final Consumer<String> next;
    private final StringBuilder line = new StringBuilder();
    private Optional<FaultReport> fault = Optional.empty();
    private Optional<OverflowReport> overflow = Optional.empty();

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
                note(whole);
            }
        }
    }

    private void note(String whole) {
        overflow.flatMap(report -> report.with(whole)).ifPresent(more -> overflow = Optional.of(more));
        OverflowReport.in(whole).ifPresent(report -> {
            overflow = Optional.of(report);
            fault = Optional.empty();
        });
        FaultReport.in(whole).ifPresent(report -> {
            fault = Optional.of(report);
            overflow = overflow.map(stack -> stack.with(report));
        });
        notifyAll();
    }

    /**
     * The last reported fault, if any.
     *
     * @param image ELF file that ran, for the names of functions and lines; without one, addresses stay bare
     */
    public synchronized Optional<Problem> problem(Path image) {
        return overflow.map(report -> report.problem(image))
                .or(() -> fault.map(report -> described(report, ImageSymbols.of(image))));
    }

    /** Waits for the output of an image that has ended with a fault, and returns its {@link #problem}. */
    public synchronized Optional<Problem> awaited(Path image, Duration time) {
        long deadline = System.nanoTime() + time.toNanos();
        try {
            while (!isWhole() && deadline - System.nanoTime() > 0) {
                wait(Math.max(1, (deadline - System.nanoTime()) / 1_000_000));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return problem(image);
    }

    /** Whether a report is whole: the last line has come that names a place. */
    private boolean isWhole() {
        return fault.isPresent()
                || overflow.filter(report -> !report.words().isEmpty()).isPresent();
    }

    /** Returns the {@link #problem}, but each fault only once. */
    public synchronized Optional<Problem> take(Path image) {
        Optional<Problem> problem = problem(image);
        fault = Optional.empty();
        overflow = Optional.empty();
        return problem;
    }

    /**
     * The same exception, with the fault before its problems.
     *
     * @param image as in {@link #problem}
     */
    public KilnException explained(KilnException e, Path image) {
        Optional<Problem> reported = problem(image);
        if (reported.isEmpty()) {
            return e;
        }
        List<Problem> problems = new ArrayList<>(List.of(reported.get()));
        problems.addAll(e.problems());
        KilnException more = new KilnException(problems);
        more.initCause(e);
        return more;
    }

    private static Problem described(FaultReport report, ImageSymbols names) {
        return Failure.RUN.problem(
                "the image stopped with a fault: " + FaultCause.text(report),
                report.place(names),
                "",
                FaultCause.isImprecise(report)
                        ? "The core reports an instruction after the write. On Cortex-M3 and -M4, flags: {defines:"
                                + " {KILN_PRECISE_WRITES: 1}} in board.yaml has each write wait for its answer"
                        : "");
    }
}
