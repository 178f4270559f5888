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
import io.kiln.ir.op.Clip;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Reshape;
import io.kiln.ir.op.Softmax;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.schedule.Dispatch;
import io.kiln.stream.StoredValue.Place;
import io.kiln.target.Target;
import io.kiln.transform.Pipeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class WholeTensorsTest {
    private static final TensorType FLOATS = new TensorType(Shape.of(2, 8), DType.FLOAT32);

    private final List<Binding> bindings = new ArrayList<>();

    private int bind(Op op, int argument) {
        int id = bindings.size() + 1;
        TensorType in = argument == 0 ? FLOATS : bindings.get(argument - 1).type();
        bindings.add(new Binding(
                id,
                op,
                List.of(new Arg.Ref(argument)),
                op.infer(List.of(in)),
                new Origin("m", id, op.name(), "t" + id)));
        return id;
    }

    private Program program(int... results) {
        List<Result> named = new ArrayList<>();
        for (int id : results) {
            named.add(new Result(id, "out" + named.size(), Optional.empty()));
        }
        Parameter parameter = new Parameter(0, "x", FLOATS, Optional.empty());
        Function fused = Pipeline.standard().run(new Function("m", List.of(parameter), bindings, named));
        Dispatch dispatch = new Dispatch(Target.parse("c"), Optimize.SPEED);
        List<LoweredOperator> operators = FusedOperator.all(fused, "tvmgen_m").stream()
                .filter(op -> !(op.root().op() instanceof Reshape))
                .map(dispatch::lower)
                .toList();
        return WholeTensors.order(fused, operators);
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
        assertThat(between).isEqualTo(new StoredValue(first, FLOATS, Place.WORKSPACE, -1, 0, 1));
    }

    @Test
    void anOutputThatIsTheReshapedInputIsCopied() {
        int reshaped = bind(new Reshape(Shape.of(16)), 0);
        Program program = program(reshaped);
        assertThat(program.steps()).containsExactly(new Step.Copy(0, -1));
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
        Program program = program(bind(new Softmax(1), second));
        long tensor = FLOATS.bytes();
        assertThat(WorkspaceLayout.of(program, true).plan().bytes()).isEqualTo(2 * tensor);
        assertThat(WorkspaceLayout.of(program, false).plan().bytes()).isEqualTo(2 * tensor);
    }

    @Test
    void scratchLivesBesideWhatItsOperatorReadsAndWrites() {
        int first = bind(new Softmax(1), 0);
        int second = bind(new Softmax(1), first);
        Program plain = program(bind(new Softmax(1), second));
        LoweredOperator middle = ((Step.Run) plain.steps().get(1)).operator();
        LoweredOperator withScratch = new LoweredOperator(
                middle.function(), middle.op(), middle.inputs(), middle.output(), middle.dependencies(), 40, 0, "test");
        List<Step> steps = List.of(
                plain.steps().get(0), new Step.Run(withScratch), plain.steps().get(2));
        Program program = new Program(plain.function(), steps, plain.values(), plain.storage());
        WorkspaceLayout layout = WorkspaceLayout.of(program, false);
        long tensor = FLOATS.bytes();
        assertThat(layout.plan().bytes()).isEqualTo(2 * tensor + 40);
        for (int value : List.of(first, second)) {
            boolean before = layout.value(value) + tensor <= layout.scratch(1);
            boolean after = layout.value(value) >= layout.scratch(1) + 40;
            assertThat(before || after).isTrue();
        }
    }
}
