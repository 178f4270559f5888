// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.legality;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.transform.Pass;
import io.kiln.transform.Pipeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class LegalityTest {
    private static final TensorType BYTES = new TensorType(Shape.of(1, 4), DType.INT8);
    private static final TensorType REALS = new TensorType(Shape.of(1, 4), DType.FLOAT32);

    private static Function function(Op op, TensorType data, TensorType type, Arg... others) {
        List<Arg> args = new ArrayList<>(List.of(new Arg.Ref(0)));
        args.addAll(List.of(others));
        return new Function(
                "net",
                List.of(new Parameter(0, "x", data, Optional.empty())),
                List.of(new Binding(1, op, args, type, new Origin("net.tflite", 3, "OP", "y"))),
                List.of(new Result(1, "y", Optional.empty())));
    }

    @Test
    void numbersOutsideTheirRangesAreToldAtTheOperatorsPlace() {
        Function function = function(new QnnDequantize(), BYTES, REALS, Constant.scalar(0f), Constant.scalar(200));
        assertThat(Legality.violations(function))
                .extracting(Violation::what)
                .containsExactly("a scale of qnn.dequantize is not valid", "a zero point of qnn.dequantize is 200");
        assertThatThrownBy(() -> Pipeline.standard().run(function))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("net.tflite: operator #3 OP `y`")
                .hasMessageContaining("a zero point of qnn.dequantize is 200");
    }

    @Test
    void whatTheOperatorIsNotCompiledForIsRefused() {
        TensorType words = new TensorType(Shape.of(1, 4), DType.INT64);
        assertThat(Legality.violations(function(new Clip(0, 1), words, words)))
                .extracting(Violation::what)
                .containsExactly("clip of this data, int64, is not supported");
    }

    @Test
    void aPassThatMakesSomethingIllegalIsFound() {
        Pass pass = new Pass() {
            @Override
            public String name() {
                return "break-softmax";
            }

            @Override
            public Function run(Function function) {
                return function(new Softmax(-1), REALS, REALS);
            }
        };
        Pipeline pipeline = new Pipeline(List.of(pass), Set.of());
        assertThatThrownBy(() -> pipeline.run(function(new Softmax(1), REALS, REALS)))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("beta is -1.0");
    }
}
