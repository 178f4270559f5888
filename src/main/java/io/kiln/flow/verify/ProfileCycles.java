// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.elf.ElfFile;
import io.kiln.cycles.BlockSink;
import io.kiln.cycles.BlockSink.ExecutedBlock;
import io.kiln.cycles.CycleEstimator;
import io.kiln.cycles.CycleEstimator.CycleEstimate;
import io.kiln.cycles.CycleEstimator.CycleEstimate.Cost;
import io.kiln.cycles.MemoryTrace;
import io.kiln.cycles.MemoryTrace.Loop;
import io.kiln.cycles.MemoryTrace.Stalls;
import io.kiln.cycles.core.CoreTables;
import io.kiln.cycles.core.CoreTimings;
import io.kiln.cycles.core.CycleRange;
import io.kiln.cycles.core.CycleRange.Bound;
import io.kiln.cycles.memory.MemorySetting;
import io.kiln.cycles.memory.MemorySetting.RamCode;
import io.kiln.cycles.memory.MemorySetting.Region;
import io.kiln.cycles.memory.MemoryWait;
import io.kiln.device.emulator.RunCounter;
import io.kiln.device.emulator.RunCounter.InstructionCounts;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.report.CycleReport;
import io.kiln.report.CycleReport.BoardCycles;
import io.kiln.report.CycleReport.MemoryReport;
import io.kiln.report.ProfileReport;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Board.AlternativeWait;
import io.kiln.toolchain.board.Board.BoardTimer;
import io.kiln.toolchain.board.Board.CodeFetch;
import io.kiln.toolchain.board.Board.Memory;
import io.kiln.toolchain.board.Board.Timing;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.IntFunction;

/** Estimates the cycles of a profiled image's models on the board's core, if there are timings of it. */
final class ProfileCycles {
    /** Why there is no estimate, before the name of the core. */
    static final String NO_TIMINGS = "no instruction timings are known of ";

    private static final int MOST_LOOPS = 16;
    private static final double MICRO = 1e6;
    private static final double MILLI = 1e3;

    private final ResolvedBuild build;
    private final RunCounter counter;
    private final Path image;
    private final Path boardImage;
    private final Optional<CoreTimings> core;
    private final Optional<MemorySettings> settings;
    private final List<CycleEstimate> estimates = new ArrayList<>();
    private final List<MemoryTrace> traces = new ArrayList<>();

    /**
     * @param image the image that runs
     * @param boardImage the board's own, linked from the same objects
     * @param isBrief whether the expected waits suffice, without range and other settings
     */
    ProfileCycles(ResolvedBuild build, RunCounter counter, Path image, Path boardImage, boolean isBrief) {
        this.build = build;
        this.boardImage = boardImage;
        this.counter = counter;
        this.image = image;
        this.core = CoreTables.find(build.toolchain().cpu());
        Optional<MemorySettings> known = counter.hasOrder() ? MemorySettings.of(build.board()) : Optional.empty();
        this.settings = known.map(all -> isBrief ? all.onlyExpected() : all);
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
        ElfFile ran = ElfFile.read(image);
        Optional<MemoryTrace> trace =
                settings.map(all -> new MemoryTrace(ran, ElfFile.read(boardImage), core.get(), all.all()));
        List<ExecutedBlock> blocks = counter.blocks(
                image,
                model.name(),
                model.operators().stream().map(OperatorInfo::name).toList(),
                TestCases.zero(model.inputs()).inputs(),
                counts,
                trace.<BlockSink>map(sink -> sink).orElse(BlockSink.NONE));
        CycleEstimate estimate = CycleEstimator.estimate(ran, blocks, core.get());
        estimates.add(estimate);
        trace.ifPresent(traces::add);
        List<ProfileReport.Operator> with = new ArrayList<>();
        for (int i = 0; i < operators.size(); i++) {
            int owner = i + 1;
            List<Cost> owners = estimate.owners();
            CycleRange cycles = owner < owners.size() ? owners.get(owner).cycles() : CycleRange.NONE;
            ProfileReport.Operator estimated = operators.get(i).with(cycles);
            IntFunction<Stalls> stalls =
                    setting -> trace.map(all -> all.stalls(setting, owner)).orElse(Stalls.NONE);
            with.add(settings.isPresent() ? estimated.with(waited(cycles, stalls)) : estimated);
        }
        return with;
    }

    /** Cycles with what the settings of the board's memories add. */
    private BoardCycles waited(CycleRange cycles, IntFunction<Stalls> stalls) {
        MemorySettings all = settings.orElseThrow();
        Stalls waits = stalls.apply(MemorySettings.EXPECTED);
        long expected = expected(cycles, waits);
        Stalls least = stalls.apply(all.number(MemorySettings.LOW));
        Stalls most = stalls.apply(all.number(MemorySettings.HIGH));
        return new BoardCycles(
                cycles.expected(),
                waits.fetch(),
                waits.data(),
                expected,
                Math.min(expected, cycles.low() + least.fetch() + least.data()),
                Math.max(expected, cycles.high() + most.fetch() + most.data()));
    }

    private long expected(CycleRange cycles, Stalls waits) {
        double measured = settings.orElseThrow().flash().measured();
        return Math.round((cycles.expected() + waits.fetch() + waits.data()) * measured);
    }

    private Stalls stalls(int setting) {
        return traces.stream().map(trace -> trace.stalls(setting)).reduce(Stalls.NONE, Stalls::plus);
    }

    private MemoryReport memory(CycleRange cycles, OptionalLong hertz) {
        MemorySettings all = settings.orElseThrow();
        long cacheBytes = build.board().loopBytes().orElse(Integer.MAX_VALUE);
        List<MemoryReport.Loop> loops = traces.stream()
                .flatMap(trace -> trace.loopsBeyond(MemorySettings.EXPECTED, cacheBytes).stream())
                .sorted(Comparator.comparingLong(Loop::fetchStalls).reversed())
                .limit(MOST_LOOPS)
                .map(loop -> new MemoryReport.Loop(
                        loop.function(), loop.address(), loop.bytes(), cacheBytes, loop.fetchStalls()))
                .toList();
        List<MemoryReport.Change> changes = new ArrayList<>();
        for (int i = 0; i < all.changes().size(); i++) {
            MemorySettings.Change change = all.changes().get(i);
            long expected = expected(cycles, stalls(MemorySettings.FIRST_CHANGE + i));
            OptionalLong clock = change.hertz().isPresent() ? change.hertz() : hertz;
            Double time = clock.isPresent() ? Math.round(expected * MICRO / clock.getAsLong() * MILLI) / MILLI : null;
            changes.add(new MemoryReport.Change(change.title(), expected, time));
        }
        return new MemoryReport(
                waited(cycles, this::stalls),
                loops,
                changes,
                traces.stream().mapToLong(MemoryTrace::unknownLoads).sum());
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
            CycleReport report = CycleReport.of(timings.title(), whole.cycles(), stalls, hertz, unknown);
            return settings.isEmpty()
                    ? report
                    : report.with(
                            memory(whole.cycles(), hertz == null ? OptionalLong.empty() : OptionalLong.of(hertz)));
        });
    }

    /**
     * The settings of a board's memories that a profile counts: as they are, expected, low and high, and what could be changed.
     *
     * @param flash how long the memory of code and constants waits
     * @param changes other settings
     * @param all the three and those of the changes, in this order
     */
    private record MemorySettings(MemoryWait flash, List<Change> changes, List<MemorySetting> all) {
        static final int EXPECTED = 0;
        static final int LOW = 1;
        static final int HIGH = 2;

        /** How many come before those of the changes. */
        static final int FIRST_CHANGE = 3;

        /**
         * Another setting.
         *
         * @param title one line for people
         * @param hertz the core's clock then; empty if it is the same
         */
        record Change(String title, OptionalLong hertz) {}

        /** The settings of a board; empty if its profile does not describe the caches of its flash. */
        static Optional<MemorySettings> of(Board board) {
            return board.constants()
                    .flatMap(Memory::waits)
                    .filter(MemoryWait::isModelled)
                    .map(flash -> of(board, flash));
        }

        /** Only what is expected, which takes a fraction of the time; low and high are the same then. */
        MemorySettings onlyExpected() {
            return new MemorySettings(flash, List.of(), all.subList(EXPECTED, LOW));
        }

        /** The number of a setting among {@link #all}. */
        int number(int setting) {
            return Math.min(setting, all.size() - 1);
        }

        private static MemorySettings of(Board board, MemoryWait flash) {
            MemorySetting expected = setting(board.memories(), Bound.EXPECTED);
            List<Change> changes = new ArrayList<>();
            List<MemorySetting> all = new ArrayList<>(
                    List.of(expected, setting(board.memories(), Bound.LOW), setting(board.memories(), Bound.HIGH)));
            if (flash.states() > 0) {
                Optional<RamCode> ram = board.memories().stream()
                        .flatMap(memory -> ram(memory).stream())
                        .max(RamCode::compareTo);
                ram.ifPresent(code -> {
                    String where = code == RamCode.SLOW ? "RAM, by the system bus" : "RAM";
                    changes.add(new Change("all code in " + where, OptionalLong.empty()));
                    all.add(expected.withCode(code));
                    changes.add(new Change("all weights and code in " + where, OptionalLong.empty()));
                    all.add(expected.withCode(code).withConstants());
                });
                changes.add(new Change("all weights in RAM", OptionalLong.empty()));
                all.add(expected.withConstants());
            }
            for (Memory memory : board.memories()) {
                for (AlternativeWait other : memory.alternatives()) {
                    changes.add(new Change(other.title(), other.hertz()));
                    all.add(setting(
                            board.memories().stream()
                                    .map(one -> one.equals(memory) ? with(one, other.waits()) : one)
                                    .toList(),
                            Bound.EXPECTED));
                }
            }
            return new MemorySettings(flash, List.copyOf(changes), List.copyOf(all));
        }

        private static Memory with(Memory memory, MemoryWait waits) {
            return new Memory(
                    memory.name(),
                    memory.kind(),
                    memory.base(),
                    memory.size(),
                    new Timing(memory.speed(), Optional.of(waits), memory.alternatives()),
                    memory.wiring());
        }

        private static MemorySetting setting(List<Memory> memories, Bound bound) {
            return new MemorySetting(
                    memories.stream()
                            .map(memory -> new Region(memory.base(), memory.end(), memory.waits(), ram(memory)))
                            .toList(),
                    bound);
        }

        private static Optional<RamCode> ram(Memory memory) {
            return memory.fetch().map(fetch -> fetch == CodeFetch.SYSTEM_BUS ? RamCode.SLOW : RamCode.FAST);
        }
    }
}
