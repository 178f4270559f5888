// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.assertj.core.api.Assertions.within;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Optimize;
import io.kiln.ir.type.Shape;
import io.kiln.lower.layer.PoolLowering;
import io.kiln.schedule.Dispatch;
import io.kiln.target.Target;
import io.kiln.target.TestTargets;
import io.kiln.tir.Buffer;
import io.kiln.tir.TirEvaluator;
import io.kiln.tir.TirVerifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

@ParameterizedClass
@MethodSource("dispatches")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LoweringPropertyTest {
    /** What no element of 32 bits is. */
    private static final long UNWRITTEN = 1L << 40 | 1000;

    private static final int COUNT = 1500;

    /** Drawn and answered once for all targets. */
    private static final List<LoweringCase> CASES =
            LongStream.range(0, 2 * COUNT).mapToObj(LoweringCase::of).toList();

    @Parameter
    private Dispatch dispatch;

    /** The first cases lowered for a range of rows. */
    private List<LoweredOperator> byRows = List.of();

    @BeforeParameterizedClassInvocation
    void lowerByRows() {
        byRows = CASES.subList(0, COUNT).stream()
                .map(c -> dispatch.lower(c.op(), Rows.named()))
                .toList();
    }

    /** Schedules differ by core: the targets for which all operators are lowered. */
    static Stream<Named<Dispatch>> dispatches() {
        Stream<Named<Dispatch>> speed = Stream.of(
                        TestTargets.M4, TestTargets.M55, TestTargets.M3, TestTargets.M0, TestTargets.RV32)
                .map(target -> Named.of(target, new Dispatch(Target.parse(target), Optimize.SPEED)));
        Stream<Named<Dispatch>> size = Stream.of(TestTargets.M4, TestTargets.RV32)
                .map(target -> Named.of(target + ", size", new Dispatch(Target.parse(target), Optimize.SIZE)));
        return Stream.concat(speed, size);
    }

    @Test
    void loopsComputeWhatTheInterpreterComputes() {
        for (int seed = 0; seed < COUNT; seed++) {
            LoweringCase c = CASES.get(seed);
            LoweredOperator lowered = dispatch.lower(c.op());
            TirVerifier.verify(lowered.function());
            Map<String, long[]> memory = c.memory(lowered);
            TirEvaluator.run(lowered.function(), memory, Map.of());
            DType dtype = c.op().type().dtype();
            Bytes actual = TirEvaluator.bytes(dtype, memory.get("output"));
            assertEqual(seed, c, dtype, actual);
        }
    }

    private static void assertEqual(long seed, LoweringCase c, DType dtype, Bytes actual) {
        String what = "seed " + seed + ", " + c.op().op();
        if (!dtype.isFloat()) {
            assertThat(actual).as(what).isEqualTo(c.expected());
            return;
        }
        for (int i = 0; i < actual.size(); i += 4) {
            float expected = c.expected().buffer().getFloat(i);
            assertThat(actual.buffer().getFloat(i))
                    .as(what)
                    .isCloseTo(expected, within(1e-5f + 1e-4f * Math.abs(expected)));
        }
    }

    @Test
    void aRangeOfRowsWritesJustTheseRowsAndReadsJustTheRowsItDeclares() {
        for (int seed = 0; seed < COUNT; seed++) {
            LoweringCase c = CASES.get(seed);
            LoweredOperator lowered = byRows.get(seed);
            int rows = Rows.count(c.op().type().shape());
            int begin = seed % rows;
            int end = begin + 1 + seed / 7 % (rows - begin);
            Map<String, long[]> memory = c.memory(lowered);
            long[] output = memory.get("output");
            Arrays.fill(output, UNWRITTEN);
            TirEvaluator run = TirEvaluator.run(
                    lowered.function(), memory, Map.of("row_begin", (long) begin, "row_end", (long) end));
            int rowElements = output.length / rows;
            for (int i = 0; i < output.length; i++) {
                boolean inside = i / rowElements >= begin && i / rowElements < end;
                if (inside == (output[i] == UNWRITTEN)) {
                    fail("seed %d element %d is %s", seed, i, inside ? "not written" : "written");
                }
            }
            for (int i = 0; i < lowered.inputs().size(); i++) {
                assertReads(seed, c, lowered, run, i, begin, end);
            }
        }
    }

    /** Inputs hold just the rows that the range reads, and the output just the rows it writes, each in a ring of its own size. */
    @Test
    void aRangeOfRowsInRingsComputesTheSameRows() {
        int inRings = 0;
        for (int seed = 0; seed < COUNT; seed++) {
            LoweringCase c = CASES.get(seed);
            int rows = Rows.count(c.op().type().shape());
            int begin = seed % rows;
            int end = begin + 1 + seed / 7 % (rows - begin);
            inRings += runsInRings(seed, begin, end, 1) ? 1 : 0;
        }
        assertThat(inRings).isGreaterThan(COUNT / 4);
    }

    /** Operators that like blocks of rows get ranges and rings that keep to them. */
    @Test
    void aBlockOfRowsInRingsComputesTheSameRows() {
        for (int seed = 0; seed < COUNT; seed++) {
            LoweringCase c = CASES.get(seed);
            int block = byRows.get(seed).rowBlock();
            int rows = Rows.count(c.op().type().shape());
            if (block > 1) {
                int begin = seed % rows / block * block;
                runsInRings(seed, begin, Math.min(begin + block, rows), block);
            }
        }
    }

    private boolean runsInRings(int seed, int begin, int end, int block) {
        LoweringCase c = CASES.get(seed);
        List<RowDependency> dependencies = byRows.get(seed).dependencies();
        List<Integer> inputRings = new ArrayList<>();
        for (int i = 0; i < dependencies.size(); i++) {
            RowDependency declared = dependencies.get(i);
            int needed = declared.endRow(begin, end) - declared.firstRow(begin, end);
            inputRings.add(ring(Math.max(1, needed + seed % 2), block, Rows.count(c.shape(i))));
        }
        int rows = Rows.count(c.op().type().shape());
        int outputRing = ring(end - begin + seed / 3 % 2, block, rows);
        LoweredOperator lowered =
                dispatch.lower(c.op(), Rows.named(inputRings, outputRing).inBlocksOf(block));
        TirVerifier.verify(lowered.function());
        Map<String, long[]> memory = c.memory(lowered);
        for (int i = 0; i < inputRings.size(); i++) {
            String name = lowered.function().buffers().get(i).name();
            int all = Rows.count(c.shape(i));
            memory.put(name, held(memory.get(name), all, inputRings.get(i), dependencies.get(i), begin, end));
        }
        int rowElements = memory.get("output").length / rows;
        memory.put("output", new long[rowElements * (outputRing == 0 ? rows : outputRing)]);
        TirEvaluator.run(lowered.function(), memory, Map.of("row_begin", (long) begin, "row_end", (long) end));
        assertRows(seed, c, memory.get("output"), rows, outputRing == 0 ? rows : outputRing, begin, end);
        return outputRing > 0 || inputRings.stream().anyMatch(ring -> ring > 0);
    }

    /** Rows of a ring that holds some rows and that blocks divide; 0 if that is all rows. */
    private static int ring(int needed, int block, int all) {
        int ring = (needed + block - 1) / block * block;
        return ring < all ? ring : 0;
    }

    /** A pool over the whole height, one input row at a time, out of a ring that holds just this row. */
    @Test
    void poolsAccumulateRowByRow() {
        int pools = 0;
        for (int seed = 0; seed < 2 * COUNT; seed++) {
            LoweringCase c = CASES.get(seed);
            OptionalInt rows = PoolLowering.accumulatedRows(c.op());
            if (rows.isEmpty()) {
                continue;
            }
            pools++;
            LoweredOperator lowered = dispatch.lower(c.op(), Rows.accumulating(List.of(1)));
            TirVerifier.verify(lowered.function());
            Map<String, long[]> memory = c.memory(lowered);
            String input = lowered.function().buffers().get(0).name();
            long[] all = memory.get(input);
            int inputRows = Rows.count(c.shape(0));
            Buffer scratch = lowered.function().buffers().get(2);
            memory.put(scratch.name(), new long[(int) scratch.elements()]);
            for (int row = 0; row < rows.getAsInt(); row++) {
                memory.put(input, held(all, inputRows, 1, lowered.dependencies().get(0), row, row + 1));
                Map<String, Long> range = Map.of("row_begin", (long) row, "row_end", row + 1L);
                TirEvaluator.run(lowered.function(), memory, range);
            }
            assertRows(seed, c, memory.get("output"), 1, 1, 0, 1);
        }
        assertThat(pools).isGreaterThan(8);
    }

    private static long[] held(long[] all, int rows, int ring, RowDependency read, int begin, int end) {
        if (ring == 0) {
            return all;
        }
        int row = all.length / rows;
        long[] held = new long[row * ring];
        for (int r = read.firstRow(begin, end); r < read.endRow(begin, end); r++) {
            System.arraycopy(all, r * row, held, r % ring * row, row);
        }
        return held;
    }

    private static void assertRows(long seed, LoweringCase c, long[] output, int rows, int ring, int begin, int end) {
        DType dtype = c.op().type().dtype();
        long[] expected = TirEvaluator.elements(dtype, c.expected());
        int row = expected.length / rows;
        for (int r = begin; r < end; r++) {
            for (int i = 0; i < row; i++) {
                long actual = output[r % ring * row + i];
                long wanted = expected[r * row + i];
                if (!dtype.isFloat() ? actual != wanted : !isClose(actual, wanted)) {
                    fail("seed %d, %s row %d element %d is %d, not %d", seed, c.op().op(), r, i, actual, wanted);
                }
            }
        }
    }

    /** Whether the bits are those of floats that are close. */
    private static boolean isClose(long actual, long expected) {
        float value = Float.intBitsToFloat((int) expected);
        return Math.abs(Float.intBitsToFloat((int) actual) - value) <= 1e-5f + 1e-4f * Math.abs(value);
    }

    private static void assertReads(
            long seed, LoweringCase c, LoweredOperator lowered, TirEvaluator run, int input, int begin, int end) {
        Shape shape = c.function().types().get(lowered.inputs().get(input)).shape();
        boolean[] read = run.read(lowered.function().buffers().get(input).name());
        int rowElements = read.length / Rows.count(shape);
        RowDependency declared = lowered.dependencies().get(input);
        for (int i = 0; i < read.length; i++) {
            int row = i / rowElements;
            boolean allowed = row >= declared.firstRow(begin, end) && row < declared.endRow(begin, end);
            if (read[i] && !allowed) {
                fail("seed %d, %s reads row %d for rows %d to %d", seed, c.op().op(), row, begin, end);
            }
        }
    }
}
