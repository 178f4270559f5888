// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.worker;

import io.kiln.base.Digests;
import io.kiln.base.FileFailure;
import io.kiln.base.elf.ElfFile;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.job.RunPlace;
import io.kiln.farm.worker.JobRunner;
import io.kiln.farm.worker.Offer;
import io.kiln.toolchain.board.Boards;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Runs jobs with this computer's descriptions of boards.
 *
 * @param boards the descriptions
 * @param openOcd name or path of OpenOCD
 * @param folder for what boards need, a folder for each
 */
public record WorkerJobs(Boards boards, String openOcd, Path folder) implements JobRunner {
    private static final int DIGITS = 16;

    @Override
    public Done run(FarmJob job, Offer offer) {
        try {
            Path image = Files.createTempFile("kiln-job", ".elf");
            try {
                // Temporary files are private, and stay so.
                Files.write(image, job.image().toArray());
                ElfFile.read(image);
                return run(job, offer, image);
            } finally {
                Files.deleteIfExists(image);
            }
        } catch (IOException e) {
            throw FileFailure.of("cannot keep an image in", Path.of(System.getProperty("java.io.tmpdir", "")), e);
        }
    }

    private Done run(FarmJob job, Offer offer, Path image) {
        if (offer.place() == RunPlace.EMULATOR) {
            return new EmulatorJobs(boards.find(offer.board()), job, image).run();
        }
        String probe = offer.probe().orElseThrow();
        String name = Digests.sha256((offer.board() + " " + probe).getBytes(StandardCharsets.UTF_8));
        Path own = folder.resolve(name.substring(0, DIGITS));
        return new BoardJobs(boards.find(offer.board()), probe, openOcd, own, job, image).run();
    }
}
