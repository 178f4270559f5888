// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.base.elf.ElfFile;
import io.kiln.cycles.BlockSink;
import io.kiln.cycles.CycleEstimator;
import io.kiln.cycles.CycleEstimator.CycleEstimate;
import io.kiln.cycles.MemoryTrace;
import io.kiln.cycles.MemoryTrace.Stalls;
import io.kiln.cycles.core.CoreTimings;
import io.kiln.device.emulator.CallsCounter;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.emulator.FunctionCounter;
import io.kiln.device.emulator.FunctionCounter.Calls;
import io.kiln.flow.tune.CandidateRunner.CandidateImage;
import io.kiln.flow.tune.CandidateRunner.CandidateRuns;
import io.kiln.flow.tune.CandidateRunner.CandidateRuns.Run;
import io.kiln.tuning.record.TuningRecord.MeasureError;
import io.kiln.tuning.task.Objective.Metric;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Counts the instructions of candidates in QEMU, and estimates their cycles if that is asked for. The estimate depends a little, by some tenths
 * of a percent, on where the candidate lies in the image: QEMU ends blocks of instructions at the ends of its pages.
 *
 * @param counter counts on the board that the images are linked for
 * @param core timings by which executed instructions are priced; empty to leave cycles out
 * @param waits of the board's flash; empty to leave them out
 */
public record EmulatorRunner(CallsCounter counter, Optional<CoreTimings> core, Optional<FlashWaits> waits)
        implements CandidateRunner {
    public EmulatorRunner {
        waits = waits.filter(flash -> counter.hasOrder() && core.isPresent());
    }

    /** Counts in an emulator of this computer, without waits. */
    public EmulatorRunner(Emulator emulator, Optional<CoreTimings> core) {
        this(CallsCounter.in(emulator), core, Optional.empty());
    }

    @Override
    public Set<Metric> metrics() {
        Set<Metric> metrics = EnumSet.of(Metric.INSTRUCTIONS);
        core.ifPresent(timings -> metrics.add(Metric.CYCLES));
        waits.ifPresent(flash -> metrics.add(Metric.BOARD_CYCLES));
        return metrics;
    }

    @Override
    public CandidateRuns run(CandidateImage image) {
        Calls calls = counter.count(image.elf(), image.functions(), MeasuringProgram.TOLD);
        int counted = calls.counted().size();
        List<Long> instructions = calls.counted().stream()
                .map(FunctionCounter.Counted::instructions)
                .toList();
        List<Map<Metric, Double>> cycles =
                core.isPresent() && counted > 0 ? cycles(image, instructions, core.get()) : List.of();
        List<Run> runs = new ArrayList<>();
        for (int i = 0; i < counted; i++) {
            Map<Metric, Double> costs = new TreeMap<>();
            costs.put(Metric.INSTRUCTIONS, (double) instructions.get(i));
            if (!cycles.isEmpty()) {
                costs.putAll(cycles.get(i));
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
    private List<Map<Metric, Double>> cycles(CandidateImage image, List<Long> instructions, CoreTimings timings) {
        int counted = instructions.size();
        List<String> functions = image.functions();
        String end = counted < functions.size() ? functions.get(counted) : MeasuringProgram.DONE;
        ElfFile elf = ElfFile.read(image.elf());
        Optional<MemoryTrace> trace = waits.map(flash -> new MemoryTrace(elf, elf, timings, List.of(flash.memories())));
        BlockSink sink = trace.<BlockSink>map(all -> all).orElse(BlockSink.NONE);
        CycleEstimate estimate = CycleEstimator.estimate(
                elf, counter.blocks(image.elf(), functions.subList(0, counted), instructions, end, sink), timings);
        List<Map<Metric, Double>> all = new ArrayList<>();
        // Owner 0 is what calls the candidates.
        for (int owner = 1; owner < estimate.owners().size(); owner++) {
            double free = estimate.owners().get(owner).cycles().expected();
            Map<Metric, Double> costs = new TreeMap<>(Map.of(Metric.CYCLES, free));
            if (trace.isPresent()) {
                Stalls stalls = trace.get().stalls(0, owner);
                double measured = waits.orElseThrow().flash().measured();
                costs.put(Metric.BOARD_CYCLES, (double) Math.round((free + stalls.fetch() + stalls.data()) * measured));
            }
            all.add(costs);
        }
        return all;
    }
}
