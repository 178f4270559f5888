// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.OperatorInfo;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.emulator.InstructionCounter;
import io.kiln.device.emulator.RunCounter;
import io.kiln.device.emulator.RunCounter.InstructionCounts;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.report.CycleReport;
import io.kiln.report.ProfileReport;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What an inference of an image's models costs, each with every input at its zero point.
 *
 * @param instructions of all models
 * @param stack the deepest use in bytes; 0 if it was not measured
 * @param operators of all models, in execution order
 * @param cycles estimated; empty if no timings are known of the core
 */
public record ImageProfile(
        long instructions, long stack, List<ProfileReport.Operator> operators, Optional<CycleReport> cycles) {
    public ImageProfile {
        operators = List.copyOf(operators);
    }

    /** Counts in an emulator of this computer, without the range of cycles. */
    public static ImageProfile brief(
            ResolvedBuild build, Emulator emulator, Path image, Path boardImage, List<ModelMetadata> models) {
        InstructionCounter counter = new InstructionCounter(emulator, Protocols.of(build, emulator.limit()));
        return of(build, counter, image, boardImage, models, true);
    }

    /**
     * Counts in emulators.
     *
     * @param image the image that runs, with the default application
     * @param boardImage the board's own, linked from the same objects
     * @param models those in the image
     */
    static ImageProfile of(
            ResolvedBuild build, RunCounter counter, Path image, Path boardImage, List<ModelMetadata> models) {
        return of(build, counter, image, boardImage, models, false);
    }

    private static ImageProfile of(
            ResolvedBuild build,
            RunCounter counter,
            Path image,
            Path boardImage,
            List<ModelMetadata> models,
            boolean isBrief) {
        long total = 0;
        long stack = 0;
        List<ProfileReport.Operator> operators = new ArrayList<>();
        ProfileCycles cycles = new ProfileCycles(build, counter, image, boardImage, isBrief);
        for (ModelMetadata model : models) {
            InstructionCounts counts = counter.count(
                    image,
                    model.name(),
                    model.operators().stream().map(OperatorInfo::name).toList(),
                    TestCases.zero(model.inputs()).inputs());
            total += counts.total();
            stack = Math.max(stack, counts.stackUsed().orElse(0));
            List<ProfileReport.Operator> counted = model.operators().stream()
                    .map(operator -> new ProfileReport.Operator(
                            operator.name(),
                            operator.layers(),
                            counts.operators().get(operator.name())))
                    .toList();
            operators.addAll(cycles.estimated(model, counts, counted));
        }
        return new ImageProfile(total, stack, operators, cycles.report());
    }

    /** Cycles with the waits of the board's memories if they are known, or else without; empty if nothing tells them. */
    public Optional<Long> cyclesExpected() {
        return cycles.map(report -> report.memory() == null
                ? report.cycles().expected()
                : report.memory().cycles().expected());
    }
}
