// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.DType;
import io.kiln.base.Optimize;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.schedule.Dispatch;
import io.kiln.stream.Program.PlannedProgram;
import io.kiln.stream.Program.Step;
import io.kiln.stream.Program.StoredValue;
import io.kiln.stream.Program.StoredValue.Place;
import io.kiln.stream.ProgramPools.WorkspaceLayout;
import io.kiln.stream.StreamPlanner.Lowering;
import io.kiln.stream.StreamPlanner.Planned;
import io.kiln.target.Target;
import io.kiln.transform.Pipeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StreamPlannerTest {
    private static final TensorType FLOATS = new TensorType(Shape.of(2, 8), DType.FLOAT32);
    private static final Dispatch DISPATCH = new Dispatch(Target.parse("c"), Optimize.SPEED);

    private final List<Binding> bindings = new ArrayList<>();
    private TensorType input = FLOATS;

    private int bind(Op op, int argument) {
        int id = bindings.size() + 1;
        TensorType in = argument == 0 ? input : bindings.get(argument - 1).type();
        bindings.add(new Binding(
                id,
                op,
                List.of(new Arg.Ref(argument)),
                op.infer(List.of(in)),
                new Origin("m", id, op.name(), "t" + id)));
        return id;
    }

    private PlannedProgram plan(Optimize optimize, boolean withInputsAndOutputs, Lowering lowering, int... results) {
        List<Result> named = new ArrayList<>();
        for (int id : results) {
            named.add(new Result(id, "out" + named.size(), Optional.empty()));
        }
        Parameter parameter = new Parameter(0, "x", input, Optional.empty());
        Function fused = Pipeline.standard().run(new Function("m", List.of(parameter), bindings, named));
        List<FusedOperator> operators = FusedOperator.all(fused, "tvmgen_m").stream()
                .filter(op -> !(op.root().op() instanceof Reshape))
                .toList();
        return StreamPlanner.plan(
                new Planned(fused, operators, lowering, withInputsAndOutputs, ProgramPools.ONE), optimize);
    }

    private Program program(int... results) {
        return plan(Optimize.RAM, false, DISPATCH::lower, results).program();
    }

    @Test
    void aReshapeSharesTheMemoryOfWhatItReshapes() {
        int first = bind(new Softmax(1), 0);
        int reshaped = bind(new Reshape(Shape.of(16)), first);
        int last = bind(new Softmax(1), reshaped);
        Program program = program(last);
        assertThat(program.steps()).hasSize(2).allMatch(Step.Run.class::isInstance);
        assertThat(program.storage().get(reshaped)).isEqualTo(first);
        StoredValue between = program.values().get(2);
        assertThat(between).isEqualTo(new StoredValue(first, FLOATS, 0, Place.WORKSPACE, -1, 0, 1));
    }

    @Test
    void anOutputThatIsTheReshapedInputIsCopied() {
        int reshaped = bind(new Reshape(Shape.of(16)), 0);
        assertThat(program(reshaped).steps()).containsExactly(new Step.Copy(0, -1));
    }

    @Test
    void aValueThatIsTwoOutputsIsComputedOnceAndCopied() {
        int first = bind(new Softmax(1), 0);
        Program program = program(first, bind(new Reshape(Shape.of(16)), first));
        assertThat(program.steps()).hasSize(2).endsWith(new Step.Copy(first, -2));
    }

    @Test
    void whatNobodyReadsIsNotComputed() {
        int used = bind(new Softmax(1), 0);
        bind(new Clip(0, 1), 0);
        assertThat(program(used).steps()).hasSize(1);
    }

    @Test
    void anInputMayBeOverwrittenOnceItIsReadWhenItLiesInTheWorkspace() {
        int first = bind(new Softmax(1), 0);
        int second = bind(new Softmax(1), first);
        int third = bind(new Softmax(1), second);
        long tensor = FLOATS.bytes();
        for (boolean withInputsAndOutputs : List.of(true, false)) {
            PlannedProgram planned = plan(Optimize.SIZE, withInputsAndOutputs, DISPATCH::lower, third);
            assertThat(planned.layout().plan().bytes()).isEqualTo(2 * tensor);
        }
    }

    @Test
    void scratchLivesBesideWhatItsOperatorReadsAndWrites() {
        int first = bind(new Softmax(1), 0);
        int second = bind(new Softmax(1), first);
        int third = bind(new Softmax(1), second);
        Lowering withScratch = (operator, rows) -> {
            LoweredOperator plain = DISPATCH.lower(operator, rows);
            return plain.output() != second
                    ? plain
                    : new LoweredOperator(
                            plain.function(),
                            plain.op(),
                            plain.inputs(),
                            plain.output(),
                            plain.dependencies(),
                            new LoweredOperator.Cost(40, 0),
                            LoweredOperator.Choice.only("test"));
        };
        WorkspaceLayout layout = plan(Optimize.SIZE, false, withScratch, third).layout();
        long tensor = FLOATS.bytes();
        assertThat(layout.plan().bytes()).isEqualTo(2 * tensor + 40);
        for (int value : List.of(first, second)) {
            boolean before = layout.value(value) + tensor <= layout.scratch(1);
            boolean after = layout.value(value) >= layout.scratch(1) + 40;
            assertThat(before || after).isTrue();
        }
    }

    /** 100 rows of 8 bytes; each row is computed where a row of the input was that is dead by then. */
    @Test
    void outputRowsFollowTheInputRowsTheyConsume() {
        input = new TensorType(Shape.of(1, 100, 4, 2), DType.INT8);
        int pooled = bind(new MaxPool2d(Window.of(3, 1).padded(1, 0, 1, 0)), 0);
        assertThat(plan(Optimize.SIZE, true, DISPATCH::lower, pooled)
                        .layout()
                        .plan()
                        .bytes())
                .isEqualTo(1600);
        PlannedProgram planned = plan(Optimize.RAM, true, DISPATCH::lower, pooled);
        // Row r reads rows r - 1 to r + 1 and so may lie where row r - 2 was.
        assertThat(planned.layout().plan().bytes()).isEqualTo(816);
        assertThat(planned.program().steps()).hasSize(1).first().isInstanceOf(Step.Stream.class);
    }

    /** A window of 3 rows over another: 3 rows of 8 bytes between them; a pool over the whole map needs its sums only. */
    @Test
    void chainsRunInRingsAndPoolsOverTheWholeMapAccumulate() {
        input = new TensorType(Shape.of(1, 100, 4, 2), DType.INT8);
        Window window = Window.of(3, 1).padded(1, 0, 1, 0);
        int first = bind(new MaxPool2d(window), 0);
        int second = bind(new AvgPool2d(window), first);
        int last = bind(new AvgPool2d(Window.of(100, 4)), second);
        PlannedProgram planned = plan(Optimize.RAM, false, DISPATCH::lower, last);
        Step.Stream stream = (Step.Stream) planned.program().steps().get(0);
        assertThat(stream.lanes()).hasSize(3);
        assertThat(stream.order().subList(0, 8)).containsExactly(0, 0, 1, 2, 0, 1, 2, 0);
        assertThat(ring(planned, first)).isEqualTo(3);
        assertThat(ring(planned, second)).isEqualTo(1);
        assertThat(planned.layout().plan().bytes()).isEqualTo(3 * 8 + 8 + 2 * 4);
    }

    /** Two maps of 800 bytes, each pooled to 2: one after the other they need a single map's memory. */
    @Test
    void branchesRunOneAfterTheOther() {
        input = new TensorType(Shape.of(1, 100, 4, 2), DType.INT8);
        Window window = Window.of(3, 1).padded(1, 0, 1, 0);
        int first = bind(new MaxPool2d(window), 0);
        int second = bind(new AvgPool2d(window), 0);
        int third = bind(new AvgPool2d(Window.of(100, 4)), first);
        int fourth = bind(new AvgPool2d(Window.of(100, 4)), second);
        PlannedProgram planned = plan(Optimize.SIZE, false, DISPATCH::lower, third, fourth);
        assertThat(planned.program().operators().stream().map(LoweredOperator::output))
                .containsExactly(first, third, second, fourth);
        assertThat(planned.layout().plan().bytes()).isLessThan(1600);
    }

    private static int ring(PlannedProgram planned, int id) {
        return planned.program().values().stream()
                .filter(value -> value.id() == id)
                .mapToInt(StoredValue::ring)
                .sum();
    }
}
