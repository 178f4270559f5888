// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.farm;

import io.kiln.base.Log;
import io.kiln.device.flash.FlashImage;
import io.kiln.device.flash.FlashProgress;
import io.kiln.device.flash.FlashResult;
import io.kiln.device.flash.FlashRunner;
import io.kiln.device.flash.Probe;
import io.kiln.farm.job.FarmAnswer.Flashed;
import io.kiln.flow.farm.FarmRuns.Answer;
import io.kiln.flow.spec.FarmUse;
import io.kiln.toolchain.board.Board;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Flashes a board of a farm, whichever is free.
 *
 * @param board its description here; the worker has its own
 * @param limit time for the job
 * @param elf the image
 * @param use the farm
 * @param log gets the name of the chosen board
 */
public record FarmFlashRunner(Board board, Duration limit, Path elf, FarmUse use, Log log) implements FlashRunner {
    @Override
    public String tool() {
        return "the farm " + use.address().url();
    }

    /** Any probe: the worker chooses. */
    @Override
    public List<Probe> probes() {
        return List.of(new Probe.Any());
    }

    /**
     * Has a worker flash a board with the ELF file.
     *
     * @throws io.kiln.base.KilnException with the worker's reason if it fails
     */
    @Override
    public FlashResult flash(Probe probe, FlashImage image, FlashProgress progress) {
        try (FarmRuns farm = FarmRuns.open(use, log)) {
            Answer<Flashed> answer = farm.flash(board, limit, elf);
            log.info("Flashed by " + answer.ranOn() + " with " + answer.value().tool());
            return new FlashResult(
                    probe,
                    answer.value().isUnchanged(),
                    answer.value().bytes(),
                    Duration.ofMillis(Math.max(0, answer.value().milliseconds())),
                    Optional.empty());
        }
    }

    /** Does nothing: each job has a connection of its own. */
    @Override
    public void close() {}
}
