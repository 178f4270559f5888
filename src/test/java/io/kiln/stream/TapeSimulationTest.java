// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.kiln.base.Optimize;
import io.kiln.draw.RandomResiduals;
import io.kiln.ir.Function;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.PoolLowering;
import io.kiln.schedule.Dispatch;
import io.kiln.stream.Program.PlannedProgram;
import io.kiln.stream.Program.Step;
import io.kiln.stream.Program.StoredValue;
import io.kiln.stream.Program.StoredValue.Place;
import io.kiln.stream.StreamPlanner.Lowering;
import io.kiln.stream.StreamPlanner.Planned;
import io.kiln.target.Target;
import io.kiln.transform.Pipeline;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Runs planned programs on a workspace that holds, for each byte, what was written there last: no row may be gone before its
 * last reader, and the outputs must be whole in the end.
 */
class TapeSimulationTest {
    private static final int NETS = 120;
    private static final Dispatch DISPATCH = new Dispatch(Target.parse("c -mcpu=cortex-m4"), Optimize.RAM);

    /** One planned program and its memory. */
    private static final class Simulation {
        private final String what;
        private final PlannedProgram planned;
        private final boolean withInputsAndOutputs;
        private final Map<Integer, FusedOperator> fused = new HashMap<>();
        private final Map<Integer, StoredValue> values = new HashMap<>();
        private final Map<Integer, String[]> outside = new HashMap<>();
        private final String[] workspace;

        Simulation(String what, PlannedProgram planned, List<FusedOperator> operators, boolean withInputsAndOutputs) {
            this.what = what;
            this.planned = planned;
            this.withInputsAndOutputs = withInputsAndOutputs;
            this.workspace = new String[Math.toIntExact(planned.layout().plan().bytes())];
            operators.forEach(op -> fused.put(op.output(), op));
            planned.program().values().forEach(v -> values.put(v.id(), v));
            for (StoredValue value : planned.program().values()) {
                outside.put(value.id(), new String[Math.toIntExact(value.type().bytes())]);
                if (value.place() == Place.INPUT) {
                    write(value, 0, Rows.count(value.type().shape()));
                }
            }
        }

        void run() {
            for (Step step : planned.program().steps()) {
                if (step instanceof Step.Run run) {
                    call(
                            run.operator(),
                            0,
                            Rows.count(fused.get(run.operator().output()).type().shape()),
                            false);
                } else if (step instanceof Step.Stream stream) {
                    int[] next = new int[stream.lanes().size()];
                    for (int turn : stream.order()) {
                        Step.Lane lane = stream.lanes().get(turn);
                        int begin = next[turn];
                        next[turn] = Math.min(begin + lane.block(), lane.rows());
                        call(lane.operator(), begin, next[turn], true);
                    }
                } else if (step instanceof Step.Copy copy) {
                    StoredValue from = values.get(copy.from());
                    check(from, 0, Rows.count(from.type().shape()), "a copy");
                    StoredValue to = values.get(copy.to());
                    write(to, 0, Rows.count(to.type().shape()));
                }
            }
            for (StoredValue value : planned.program().values()) {
                if (value.place() == Place.OUTPUT) {
                    check(value, 0, Rows.count(value.type().shape()), "the caller");
                }
            }
        }

        private void call(LoweredOperator operator, int begin, int end, boolean byRows) {
            FusedOperator op = fused.get(operator.output());
            boolean accumulates = byRows && PoolLowering.accumulatedRows(op).isPresent();
            int index = planned.program().operators().indexOf(operator);
            String scratch = "scratch " + index;
            if (operator.scratchBytes() > 0) {
                long offset = planned.layout().scratch(index);
                if (accumulates && begin > 0) {
                    checkScratch(index, operator.scratchBytes());
                }
                Arrays.fill(workspace, (int) offset, (int) (offset + operator.scratchBytes()), scratch);
            }
            for (int i = 0; i < operator.inputs().size(); i++) {
                StoredValue value = values.get(
                        planned.program().storage().get(operator.inputs().get(i)));
                RowDependency rows = operator.dependencies().get(i);
                int own = Rows.count(op.rootTypes().get(0).shape());
                int all = Rows.count(value.type().shape());
                int first = own == all ? rows.firstRow(begin, end) : 0;
                check(value, first, own == all ? rows.endRow(begin, end) : all, scratch);
            }
            StoredValue output = values.get(operator.output());
            int outputRows = Rows.count(output.type().shape());
            if (!accumulates) {
                write(output, begin, end);
            } else if (end == PoolLowering.accumulatedRows(op).getAsInt()) {
                write(output, 0, outputRows);
            }
            // What was read and written, and the scratch, must not share bytes while the call runs.
            for (int i = 0; i < operator.inputs().size(); i++) {
                StoredValue value = values.get(
                        planned.program().storage().get(operator.inputs().get(i)));
                int all = Rows.count(value.type().shape());
                if (Rows.count(op.rootTypes().get(0).shape()) == all) {
                    RowDependency rows = operator.dependencies().get(i);
                    check(value, rows.firstRow(begin, end), rows.endRow(begin, end), "the end of " + scratch);
                }
            }
            checkScratch(index, operator.scratchBytes());
        }

        private void checkScratch(int index, long bytes) {
            for (int i = 0; i < bytes; i++) {
                String found = workspace[(int) planned.layout().scratch(index) + i];
                if (!found.equals("scratch " + index)) {
                    fail(what + ": scratch " + index + " is overwritten by " + found);
                }
            }
        }

        private String[] memory(StoredValue value) {
            return withInputsAndOutputs || value.place() == Place.WORKSPACE ? workspace : outside.get(value.id());
        }

        private int start(StoredValue value, int row) {
            int rows = Rows.count(value.type().shape());
            int slot = value.ring() == 0 ? row : row % value.ring();
            long base = memory(value) == workspace ? planned.layout().value(value.id()) : 0;
            return Math.toIntExact(base + value.type().bytes() / rows * slot);
        }

        private void write(StoredValue value, int begin, int end) {
            int bytes = Math.toIntExact(
                    value.type().bytes() / Rows.count(value.type().shape()));
            for (int row = begin; row < end; row++) {
                int first = start(value, row);
                Arrays.fill(memory(value), first, first + bytes, value.id() + " row " + row);
            }
        }

        private void check(StoredValue value, int begin, int end, String reader) {
            int bytes = Math.toIntExact(
                    value.type().bytes() / Rows.count(value.type().shape()));
            for (int row = begin; row < end; row++) {
                String tag = value.id() + " row " + row;
                int first = start(value, row);
                for (int i = 0; i < bytes; i++) {
                    String found = memory(value)[first + i];
                    if (!tag.equals(found)) {
                        fail(what + ": " + reader + " reads " + tag + " but finds " + found);
                    }
                }
            }
        }
    }

    /** Lowers each operator once for the same rows, whatever the ways to optimize. */
    private static Lowering loweredOnce() {
        IdentityHashMap<FusedOperator, Map<Rows, LoweredOperator>> lowered = new IdentityHashMap<>();
        return (operator, rows) -> lowered.computeIfAbsent(operator, o -> new HashMap<>())
                .computeIfAbsent(rows, r -> DISPATCH.lower(operator, r));
    }

    @Test
    void noRowIsOverwrittenBeforeItsLastReader() {
        int streams = 0;
        for (long seed = 0; seed < NETS; seed++) {
            Function function = Pipeline.standard().run(RandomResiduals.next(seed));
            List<FusedOperator> operators = FusedOperator.all(function, "net").stream()
                    .filter(op -> !(op.root().op() instanceof Reshape))
                    .toList();
            Lowering lowering = loweredOnce();
            for (Optimize optimize : Optimize.values()) {
                boolean inside = seed % 2 == 0;
                PlannedProgram planned = StreamPlanner.plan(
                        new Planned(function, operators, lowering, inside, ProgramPools.ONE), optimize);
                new Simulation("net " + seed + " for " + optimize, planned, operators, inside).run();
                streams += planned.program().steps().stream().anyMatch(Step.Stream.class::isInstance) ? 1 : 0;
            }
        }
        assertThat(streams).isGreaterThan(NETS / 2);
    }

    @Test
    void ramNeedsNoMoreThanSizeAndSpeedLittleMoreThanRam() {
        for (long seed = 0; seed < NETS / 3; seed++) {
            Function function = Pipeline.standard().run(RandomResiduals.next(seed));
            List<FusedOperator> operators = FusedOperator.all(function, "net").stream()
                    .filter(op -> !(op.root().op() instanceof Reshape))
                    .toList();
            Lowering lowering = loweredOnce();
            Map<Optimize, Long> bytes = new HashMap<>();
            for (Optimize optimize : Optimize.values()) {
                bytes.put(
                        optimize,
                        StreamPlanner.plan(new Planned(function, operators, lowering, true, ProgramPools.ONE), optimize)
                                .layout()
                                .plan()
                                .bytes());
            }
            assertThat(bytes.get(Optimize.RAM)).as("net %d", seed).isLessThanOrEqualTo(bytes.get(Optimize.SIZE));
            assertThat(bytes.get(Optimize.SPEED))
                    .as("net %d", seed)
                    .isLessThanOrEqualTo(bytes.get(Optimize.RAM) * 115 / 100);
        }
    }
}
