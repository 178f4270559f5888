// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.base.elf.ElfFile;
import io.kiln.cycles.CycleEstimate;
import io.kiln.cycles.CycleEstimator;
import io.kiln.cycles.core.CoreTimings;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.emulator.FunctionCounter;
import io.kiln.device.emulator.FunctionCounter.Calls;
import io.kiln.device.emulator.FunctionTrace;
import io.kiln.flow.tune.CandidateRuns.Run;
import io.kiln.tuning.record.MeasureError;
import io.kiln.tuning.task.Objective.Metric;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Counts the instructions of candidates in QEMU, and estimates their cycles if that is asked for. The estimate depends a little, by some tenths
 * of a percent, on where the candidate lies in the image: QEMU ends blocks of instructions at the ends of its pages.
 *
 * @param emulator the board that the images are linked for
 * @param core timings by which executed instructions are priced; empty to leave cycles out
 */
public record EmulatorRunner(Emulator emulator, Optional<CoreTimings> core) implements CandidateRunner {
    @Override
    public Set<Metric> metrics() {
        return core.isPresent() ? Set.of(Metric.INSTRUCTIONS, Metric.CYCLES) : Set.of(Metric.INSTRUCTIONS);
    }

    @Override
    public CandidateRuns run(CandidateImage image) {
        Calls calls = new FunctionCounter(emulator).count(image.elf(), image.functions(), MeasuringProgram.TOLD);
        int counted = calls.counted().size();
        List<Long> instructions = calls.counted().stream()
                .map(FunctionCounter.Counted::instructions)
                .toList();
        List<Long> cycles = core.isPresent() && counted > 0 ? cycles(image, instructions, core.get()) : List.of();
        List<Run> runs = new ArrayList<>();
        for (int i = 0; i < counted; i++) {
            Map<Metric, Double> costs = new TreeMap<>();
            costs.put(Metric.INSTRUCTIONS, (double) instructions.get(i));
            if (!cycles.isEmpty()) {
                costs.put(Metric.CYCLES, (double) cycles.get(i));
            }
            runs.add(new Run(calls.counted().get(i).verdict(), costs));
        }
        return new CandidateRuns(
                runs,
                calls.failure()
                        .map(failure -> failure.getMessage().contains("ran longer than")
                                ? MeasureError.RUN_TIMEOUT
                                : MeasureError.RUNTIME_DEVICE));
    }

    /** Cycles of the first functions, which were counted, from a second boot. */
    private List<Long> cycles(CandidateImage image, List<Long> instructions, CoreTimings timings) {
        int counted = instructions.size();
        List<String> functions = image.functions();
        String end = counted < functions.size() ? functions.get(counted) : MeasuringProgram.DONE;
        CycleEstimate estimate = CycleEstimator.estimate(
                ElfFile.read(image.elf()),
                new FunctionTrace(emulator).blocks(image.elf(), functions.subList(0, counted), instructions, end),
                timings);
        // Owner 0 is what calls the candidates.
        return estimate.owners().stream()
                .skip(1)
                .map(cost -> cost.cycles().expected())
                .toList();
    }
}
