// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.worker;

import io.kiln.base.KilnException;
import io.kiln.base.Printable;
import io.kiln.farm.worker.Offer;
import io.kiln.process.Command;
import io.kiln.process.ProcessResult;
import io.kiln.process.ProcessRunner;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * Switches the power of boards off and on by a command of the worker's owner. Jobs have no part in it.
 *
 * @param words the command without a shell; <code>{board}</code> and <code>{probe}</code> in them stand for the board's id and its probe
 * @param limit after which the command is stopped
 */
record PowerSwitch(List<String> words, Duration limit) {
    private static final Duration USUAL = Duration.ofSeconds(60);

    /** @param line the command, its words separated by spaces */
    static PowerSwitch of(String line) {
        return new PowerSwitch(
                Stream.of(line.strip().split("\\s+", -1))
                        .filter(word -> !word.isEmpty())
                        .toList(),
                USUAL);
    }

    /** Runs the command, and returns when the board has power again. What came of it, for people. */
    String cycle(Offer board) {
        List<String> line = words.stream()
                .map(word -> word.replace("{board}", board.board())
                        .replace("{probe}", board.probe().orElse("")))
                .toList();
        try {
            ProcessResult result = ProcessRunner.run(Command.ofLine(line).within(limit));
            if (result.timedOut()) {
                return "its power could not be cycled: `" + line.get(0) + "` did not end within " + limit.toSeconds()
                        + " s";
            }
            if (result.exitCode() != 0) {
                String said = result.errors().lines().findFirst().orElse("");
                return Printable.line("its power could not be cycled: `" + line.get(0) + "` ended with "
                        + result.exitCode() + (said.isEmpty() ? "" : ": " + said));
            }
            return "its power was cycled";
        } catch (KilnException e) {
            return "its power could not be cycled: " + e.problems().get(0).what();
        }
    }
}
