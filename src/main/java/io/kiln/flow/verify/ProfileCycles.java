// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.elf.ElfFile;
import io.kiln.cycles.CycleEstimate;
import io.kiln.cycles.CycleEstimate.Cost;
import io.kiln.cycles.CycleEstimator;
import io.kiln.cycles.ExecutedBlock;
import io.kiln.cycles.core.CoreTables;
import io.kiln.cycles.core.CoreTimings;
import io.kiln.cycles.core.CycleRange;
import io.kiln.device.emulator.InstructionCounts;
import io.kiln.device.emulator.RunCounter;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.report.CycleReport;
import io.kiln.report.ProfileReport;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.BoardTimer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Estimates the cycles of a profiled image's models on the board's core, if there are timings of it. */
final class ProfileCycles {
    /** Why there is no estimate, before the name of the core. */
    static final String NO_TIMINGS = "no instruction timings are known of ";

    private final ResolvedBuild build;
    private final RunCounter counter;
    private final Path image;
    private final Optional<CoreTimings> core;
    private final List<CycleEstimate> estimates = new ArrayList<>();

    ProfileCycles(ResolvedBuild build, RunCounter counter, Path image) {
        this.build = build;
        this.counter = counter;
        this.image = image;
        this.core = CoreTables.find(build.toolchain().cpu());
    }

    /**
     * The operators of a model with their cycles.
     *
     * @param counts of its run
     * @param operators with instructions, in the model's order
     * @return the same if there are no timings
     */
    List<ProfileReport.Operator> estimated(
            ModelMetadata model, InstructionCounts counts, List<ProfileReport.Operator> operators) {
        if (core.isEmpty()) {
            return operators;
        }
        List<ExecutedBlock> blocks = counter.blocks(
                image,
                model.name(),
                model.operators().stream().map(OperatorInfo::name).toList(),
                TestCases.zero(model.inputs()).inputs(),
                counts);
        CycleEstimate estimate = CycleEstimator.estimate(ElfFile.read(image), blocks, core.get());
        estimates.add(estimate);
        List<ProfileReport.Operator> with = new ArrayList<>();
        for (int i = 0; i < operators.size(); i++) {
            List<Cost> owners = estimate.owners();
            with.add(operators
                    .get(i)
                    .with(i + 1 < owners.size() ? owners.get(i + 1).cycles() : CycleRange.NONE));
        }
        return with;
    }

    /** The cycles of all models together; empty if there are no timings. */
    Optional<CycleReport> report() {
        return core.map(timings -> {
            Cost whole = estimates.stream().map(CycleEstimate::whole).reduce(Cost.NONE, Cost::plus);
            long unknown = estimates.stream().mapToLong(CycleEstimate::unknown).sum();
            Long hertz = build.board()
                    .timer()
                    .filter(BoardTimer::countsCycles)
                    .map(BoardTimer::hertz)
                    .orElse(null);
            Long stalls = build.board()
                    .constants()
                    .flatMap(Board.Memory::waits)
                    .map(wait -> wait.stallsAtMost(whole.codeBytes(), whole.taken(), whole.loads()))
                    .orElse(null);
            return CycleReport.of(timings.title(), whole.cycles(), stalls, hertz, unknown);
        });
    }
}
