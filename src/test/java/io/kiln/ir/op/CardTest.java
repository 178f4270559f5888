// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.tflite.single.SingleOperatorTest;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.op.Operand.Role;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CardTest {
    private static final int MANY = 100_000;

    /** A list of all arguments for each of them would be 10^10 steps. */
    @Test
    void rolesAndOperandsOfManyArgumentsAreFoundWithoutAListOfThem() {
        Op join = new Concatenate(0, MANY);
        assertTimeoutPreemptively(
                Duration.ofSeconds(10),
                () -> IntStream.range(0, MANY).forEach(i -> {
                    assertThat(join.role(i)).isEqualTo(Role.DATA);
                    assertThat(join.operands()).isEqualTo(MANY);
                }));
        assertThatThrownBy(() -> join.role(MANY)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void rolesAndOperandsAreThoseOfTheListOfArguments() {
        calls().map(Call::op).forEach(op -> {
            List<? extends Operand<?>> all = op.card().arguments();
            assertThat(IntStream.range(0, op.arity()).mapToObj(op::role).toList())
                    .as(op.name())
                    .isEqualTo(all.stream().map(Operand::role).toList());
            int last = IntStream.range(0, all.size())
                    .filter(i -> all.get(i).isTensor())
                    .max()
                    .orElse(-1);
            assertThat(op.operands()).as(op.name()).isEqualTo(last + 1);
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void anLstmsWeightsOfAnotherRankAreRefused(int rank) {
        Call lstm =
                calls().filter(call -> call.op() instanceof Lstm).findFirst().orElseThrow();
        for (int position = Lstm.INPUT_WEIGHTS; position < Lstm.BIASES; position++) {
            String what = position < Lstm.RECURRENT_WEIGHTS ? "input weights" : "recurrent weights";
            List<TensorType> types = lstm.with(position, ones(rank));
            assertThatThrownBy(() -> lstm.op().infer(types))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(what)
                    .hasMessageContaining("rank");
        }
    }

    /** The type of an argument is other people's input: whatever it is, there is a result or a message. */
    @Test
    void argumentsOfEveryRankAreTakenOrRefused() {
        calls().forEach(call -> {
            for (int position = 0; position < call.types().size(); position++) {
                for (int rank = 0; rank <= 5; rank++) {
                    List<TensorType> types = call.with(position, ones(rank));
                    String what = call.op().name() + ", argument " + position + " of rank " + rank;
                    try {
                        assertThat(call.op().infer(types)).as(what).isNotNull();
                    } catch (IllegalArgumentException refused) {
                        assertThat(refused.getMessage()).as(what).isNotBlank();
                    }
                }
            }
        });
    }

    private static Shape ones(int rank) {
        return new Shape(IntStream.range(0, rank).map(i -> 1).boxed().toList());
    }

    /** A call of an operator, and the types of its arguments. */
    private record Call(Op op, List<TensorType> types) {
        static Call of(Function function, Binding binding) {
            Map<Integer, TensorType> types = function.types();
            return new Call(
                    binding.op(),
                    binding.args().stream().map(arg -> arg.type(types)).toList());
        }

        List<TensorType> with(int position, Shape shape) {
            List<TensorType> changed = new ArrayList<>(types);
            changed.set(position, new TensorType(shape, types.get(position).dtype()));
            return changed;
        }
    }

    private static Stream<Call> calls() {
        return SingleOperatorTest.operators()
                .flatMap(operator -> calls(operator.function(0, TfliteRounding.MICRO, "m")));
    }

    private static Stream<Call> calls(Function function) {
        return Stream.concat(
                function.bindings().stream().map(binding -> Call.of(function, binding)),
                function.functions().stream().flatMap(CardTest::calls));
    }
}
