// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Optimize;
import io.kiln.codegen.c.LoopAnswer;
import io.kiln.codegen.c.LoopProgram;
import io.kiln.lower.layer.PoolLowering;
import io.kiln.schedule.Dispatch;
import io.kiln.target.Target;
import io.kiln.target.TestTargets;
import io.kiln.tir.TirVerifier;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Loops lowered for any core compute what the interpreter computes, whole or by rows, and touch only what they
 * declare. All run as C on this machine. While a program is compiled, the cases of the next one are lowered.
 */
class LoweringPropertyTest {
    private static final int MIXED = 1500;

    /** Beside these, each operator on each element type once and more. */
    private static final int COUNT = MIXED + 500;

    /** Where flash waits, every case that this divides reads its weights for tiles of pixels. */
    private static final int TILED = 79;

    /** Pools, of which some are over the whole height. */
    private static final int POOLS = 60;

    private static final int CASES_OF_A_PROGRAM = 250;

    private static final Map<String, Dispatch> DISPATCHES = new LinkedHashMap<>();

    static {
        for (String target : List.of(
                TestTargets.M4,
                TestTargets.M4_CACHED,
                TestTargets.M55,
                TestTargets.M3,
                TestTargets.M0,
                TestTargets.RV32)) {
            DISPATCHES.put(target, new Dispatch(Target.parse(target), Optimize.SPEED));
        }
        for (String target : List.of(TestTargets.M4, TestTargets.RV32)) {
            DISPATCHES.put(target + ", size", new Dispatch(Target.parse(target), Optimize.SIZE));
        }
    }

    private static final List<Ran> RUNS = new ArrayList<>();

    @TempDir
    private static Path folder;

    /** How an operator is lowered and run. */
    private enum Kind {
        WHOLE,
        ROWS,
        RINGS,
        /** Rings were asked for, but each would hold all rows. */
        ALL_ROWS,
        BLOCKS,
        ACCUMULATED
    }

    /**
     * A run of a program.
     *
     * @param answers of the program's runs
     * @param number of this run in the program
     */
    private record Ran(
            String dispatch, Kind kind, ExpectedOutput expected, Future<List<LoopAnswer>> answers, int number) {
        void check() {
            try {
                expected.check(answers.get().get(number));
            } catch (InterruptedException | ExecutionException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** Some cases, lowered in every way. By rows they compute with the same values as whole ones, whose arithmetic is checked. */
    private static final class Batch {
        private final LoopProgram whole = LoopProgram.checkingArithmetic();
        private final LoopProgram byRows = LoopProgram.checkingMemory();
        private final FutureTask<List<LoopAnswer>> ofWhole;
        private final FutureTask<List<LoopAnswer>> ofRows;

        Batch(Path folder) {
            ofWhole = new FutureTask<>(() -> whole.run(folder.resolve("whole")));
            ofRows = new FutureTask<>(() -> byRows.run(folder.resolve("rows")));
        }

        void lower(int seed) {
            LoweringCase c = seed < MIXED
                    ? LoweringCase.of(seed)
                    : seed < COUNT ? LoweringCase.ofElement(seed - MIXED) : LoweringCase.ofPool(seed);
            DISPATCHES.forEach((name, dispatch) -> {
                if (seed < COUNT) {
                    boolean isTiled = name.equals(TestTargets.M4_CACHED) && seed % TILED == 0;
                    lower(isTiled ? LoweringCase.largePointwise(seed) : c, seed, name, dispatch);
                }
                PoolLowering.accumulatedRows(c.op()).ifPresent(rows -> {
                    LoweredOperator lowered = dispatch.lower(c.op(), Rows.accumulating(List.of(1)));
                    add(name, Kind.ACCUMULATED, RowRuns.accumulating(c, lowered, rows));
                });
            });
        }

        private void lower(LoweringCase c, int seed, String name, Dispatch dispatch) {
            add(name, Kind.WHOLE, c.whole(dispatch.lower(c.op())));
            LoweredOperator named = dispatch.lower(c.op(), Rows.named());
            RowRuns drawn = RowRuns.drawn(c, named, seed);
            add(name, Kind.ROWS, drawn.inPlace());
            RowRuns.InRings inRings = drawn.inRings(dispatch, seed, 1);
            add(name, inRings.hasRing() ? Kind.RINGS : Kind.ALL_ROWS, inRings.run());
            // A plan takes the block, or one of two rows.
            IntStream.of(2, named.rowBlock())
                    .filter(block -> block > 1 && block <= named.rowBlock())
                    .distinct()
                    .forEach(block -> add(
                            name,
                            Kind.BLOCKS,
                            RowRuns.block(c, named, seed, block)
                                    .inRings(dispatch, seed, block)
                                    .run()));
        }

        private void add(String dispatch, Kind kind, LoweringRun run) {
            TirVerifier.verify(run.run().function());
            boolean isWhole = kind == Kind.WHOLE;
            int number = (isWhole ? whole : byRows).add(run.run());
            RUNS.add(new Ran(dispatch, kind, run.expected(), isWhole ? ofWhole : ofRows, number));
        }
    }

    @BeforeAll
    static void lowerAndRunAll() {
        ExecutorService compiler = Executors.newSingleThreadExecutor();
        for (int first = 0; first < COUNT + POOLS; first += CASES_OF_A_PROGRAM) {
            Batch batch = new Batch(folder.resolve("cases" + first));
            for (int seed = first; seed < Math.min(first + CASES_OF_A_PROGRAM, COUNT + POOLS); seed++) {
                batch.lower(seed);
            }
            compiler.execute(batch.ofWhole);
            compiler.execute(batch.ofRows);
        }
        compiler.shutdown();
    }

    @AfterAll
    static void forgetAll() {
        RUNS.clear();
    }

    static Set<String> dispatches() {
        return DISPATCHES.keySet();
    }

    /** Checks all runs of some kinds and returns their number. */
    private static int check(String dispatch, Kind... kinds) {
        List<Ran> runs = RUNS.stream()
                .filter(run -> run.dispatch().equals(dispatch) && Set.of(kinds).contains(run.kind()))
                .toList();
        runs.forEach(Ran::check);
        return runs.size();
    }

    @ParameterizedTest
    @MethodSource("dispatches")
    void loopsComputeWhatTheInterpreterComputes(String dispatch) {
        assertThat(check(dispatch, Kind.WHOLE)).isEqualTo(COUNT);
    }

    @ParameterizedTest
    @MethodSource("dispatches")
    void aRangeOfRowsWritesJustTheseRowsAndReadsJustTheRowsItDeclares(String dispatch) {
        assertThat(check(dispatch, Kind.ROWS)).isEqualTo(COUNT);
    }

    /** Inputs hold just the rows that the range reads, and the output just the rows it writes, each in a ring of its own size. */
    @ParameterizedTest
    @MethodSource("dispatches")
    void aRangeOfRowsInRingsComputesTheSameRows(String dispatch) {
        int inRings = check(dispatch, Kind.RINGS);
        assertThat(inRings).isGreaterThan(COUNT / 4);
        assertThat(inRings + check(dispatch, Kind.ALL_ROWS)).isEqualTo(COUNT);
    }

    /** Operators that like blocks of rows get ranges and rings that keep to them. */
    @ParameterizedTest
    @MethodSource("dispatches")
    void aBlockOfRowsInRingsComputesTheSameRows(String dispatch) {
        check(dispatch, Kind.BLOCKS);
    }

    /** A pool over the whole height, one input row at a time, out of a ring that holds just this row. */
    @ParameterizedTest
    @MethodSource("dispatches")
    void poolsAccumulateRowByRow(String dispatch) {
        assertThat(check(dispatch, Kind.ACCUMULATED)).isGreaterThan(8);
    }

    /** Only where flash waits, because a copy of weights takes time. */
    @Test
    void largePointwiseLayersReadTheirWeightsForTilesOfPixels() {
        int tiled = 0;
        for (int seed = 0; seed < COUNT; seed += TILED) {
            FusedOperator op = LoweringCase.largePointwise(seed).op();
            String usual = DISPATCHES.get(TestTargets.M4).lower(op).schedule();
            assertThat(usual).doesNotContain("tile=");
            if (usual.startsWith("dsp_conv(")) {
                assertThat(DISPATCHES.get(TestTargets.M4_CACHED).lower(op).schedule())
                        .contains("tile=");
                tiled++;
            }
        }
        assertThat(tiled).isGreaterThan(COUNT / TILED / 2);
    }
}
