// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform.layout;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Origin;
import io.kiln.ir.Result;
import io.kiln.ir.Verifier;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.ConstantFolder;
import io.kiln.reference.Interpreter;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

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
}
