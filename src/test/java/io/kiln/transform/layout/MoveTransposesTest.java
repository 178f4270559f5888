// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform.layout;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Origin;
import io.kiln.ir.Result;
import io.kiln.ir.Verifier;
import io.kiln.ir.op.call.Variables.RefWrite;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.ConstantFolder;
import io.kiln.reference.Interpreter;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MoveTransposesTest {
    @Test
    void aTransposedConstantStaysAResult() {
        Bytes data = Constant.vector(1, 2, 3, 4, 5, 6).data();
        Constant matrix = new Constant(
                "", new TensorType(Shape.of(2, 3), Constant.scalar(0).type().dtype()), data);
        GraphBuilder graph = new GraphBuilder(new ConstantFolder(0));
        int value = graph.call(new Transpose(List.of(1, 0)), List.of(matrix), new Origin("m", 0, "Transpose", "y"))
                .id();
        Function function = graph.build("f", List.of(new Result(value, "y", Optional.empty())));
        Function moved = new MoveTransposes().run(function);
        Verifier.verify(moved);
        assertThat(Interpreter.run(moved, List.of())).isEqualTo(Interpreter.run(function, List.of()));
    }

    /** The matrix that a variable holds, in an order of dimensions, is read behind a write of another one. */
    private static Function writtenBehind(List<Integer> axes) {
        GraphBuilder graph = new GraphBuilder(new ConstantFolder(0));
        TensorType type = new TensorType(Shape.of(2, 2), DType.INT32);
        Origin origin = new Origin("m", 0, "op", "y");
        Arg given = graph.parameter("x", type, Optional.empty());
        Arg held = graph.variable("v", type, Constant.vector(1, 2, 3, 4).data());
        Arg before = graph.call(new Transpose(axes), List.of(held), origin);
        graph.call(new RefWrite(), List.of(held, given), origin);
        Arg.Ref sum = graph.call(new Binary(Binary.Kind.ADD), List.of(before, before), origin);
        return graph.build("f", List.of(new Result(sum.id(), "y", Optional.empty())));
    }

    @ParameterizedTest
    @CsvSource({"1, 0", "0, 1"})
    void aTransposeOfAVariableStaysBeforeTheWriteOfAnotherValue(int rows, int columns) {
        Function function = writtenBehind(List.of(rows, columns));
        Function moved = new MoveTransposes().run(function);
        Verifier.verify(moved);
        List<Bytes> given = List.of(Constant.vector(50, 60, 70, 80).data());
        assertThat(Interpreter.run(moved, given))
                .isEqualTo(Interpreter.run(function, given))
                .containsExactly((rows == 0 ? Constant.vector(2, 4, 6, 8) : Constant.vector(2, 6, 4, 8)).data());
    }

    @Test
    void aTransposeOfAVariableThatNothingWritesAfterwardsMoves() {
        GraphBuilder graph = new GraphBuilder(new ConstantFolder(0));
        TensorType type = new TensorType(Shape.of(2, 2), DType.INT32);
        Origin origin = new Origin("m", 0, "op", "y");
        Arg given = graph.parameter("x", type, Optional.empty());
        Arg held = graph.variable("v", type);
        graph.call(new RefWrite(), List.of(held, given), origin);
        Arg turned = graph.call(new Transpose(List.of(1, 0)), List.of(held), origin);
        Arg.Ref back = graph.call(new Transpose(List.of(1, 0)), List.of(turned), origin);
        Function function = graph.build("f", List.of(new Result(back.id(), "y", Optional.empty())));
        Function moved = new MoveTransposes().run(function);
        Verifier.verify(moved);
        assertThat(moved.bindings()).extracting(binding -> binding.op().name()).containsExactly("ref_write", "copy");
        List<Bytes> matrix = List.of(Constant.vector(50, 60, 70, 80).data());
        assertThat(Interpreter.run(moved, matrix)).isEqualTo(matrix);
    }
}
