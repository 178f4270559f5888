// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.farm.job.FarmJob.FarmTask.Call;
import io.kiln.farm.job.RunPlace;
import io.kiln.flow.build.RunnableImage;
import io.kiln.flow.farm.FarmRuns;
import io.kiln.flow.farm.FarmRuns.Answer;
import io.kiln.flow.farm.FarmRuns.AnsweredSession;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec.VerifyOver;
import io.kiln.flow.spec.FarmUse;
import io.kiln.flow.verify.TestCases.TestCase;
import io.kiln.flow.verify.VerifyStep.Verification;
import java.util.ArrayList;
import java.util.List;

/**
 * Verifies on a farm: a worker runs all cases, and its answers are compared here.
 *
 * @param log gets messages about each step
 * @param use the farm
 */
record FarmVerification(Log log, ResolvedBuild build, FarmUse use) {
    /**
     * Runs all cases on a worker, and compares its answers.
     *
     * @param place an emulator of what runs the build's images, or the board
     * @throws KilnException if the image is talked to by RPC, or the farm does not answer
     */
    Answer<Verification.Outcome> run(RunPlace place, List<VerificationCases> models) {
        requireConsole(build);
        RunnableImage image = place == RunPlace.BOARD
                ? RunnableImage.forTheBoard(log, build)
                : RunnableImage.withDefaultApplication(log, build);
        List<Call> calls = new ArrayList<>();
        for (int m = 0; m < models.size(); m++) {
            for (TestCase each : models.get(m).cases()) {
                calls.add(new Call(m, each.inputs()));
            }
        }
        try (FarmRuns farm =
                FarmRuns.open(use, log, build.spec().layout().reports().resolve("verify.log"))) {
            Answer<AnsweredSession> answer = farm.run(
                    image.board(),
                    place,
                    Verification.limit(models, build.spec().verify().limits()),
                    image.file(),
                    calls);
            Verification.Outcome outcome = Verification.run(answer.value(), models);
            return new Answer<>(answer.ranOn(), image.isOther() ? outcome.withoutStack() : outcome);
        }
    }

    /**
     * Refuses a build whose image is talked to by RPC.
     *
     * @throws KilnException if images are talked to by RPC
     */
    static void requireConsole(ResolvedBuild build) {
        if (build.spec().verify().over() != VerifyOver.CONSOLE) {
            throw Failure.CONFIG.exception(
                    "a farm does not talk to images by RPC",
                    "kiln.verify.over",
                    "console",
                    "Set kiln.verify.over to console, or leave kiln.farm out");
        }
    }
}
