// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.legality;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.relay.RelayFrontend;
import io.kiln.frontend.tflite.single.OperatorCases;
import io.kiln.frontend.tflite.single.SingleOperatorTest;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import io.kiln.ir.legality.Legality.Violation;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.layer.Lstm;
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

    /** Sums of 64 bits that TensorFlow Lite's arithmetic rescales. */
    private static Function summed(String bias) {
        String text = """
            def @main(%x: Tensor[(1, 2), int16], %b: Tensor[(1), int64]) {
              %w = broadcast_to(cast(1, dtype="int8"), shape=[1, 2]);
              %0 = qnn.dense(%x, %w, 0, 0, 0.5f, 0.5f, units=1, out_dtype="int64");
              %1 = nn.bias_add(%0, BIAS, axis=-1);
              tfl.requantize_real(%1, 0.5f, 0.5f, 0.5f, 0f, 0, out_dtype="int16", precision="DOUBLE")
            }
            """.replace("BIAS", bias);
        return RelayFrontend.read(Bytes.ofText(text), "m.relay", Optional.empty(), "m.params", "m");
    }

    @Test
    void biasesOf64BitsAreLimitedConstants() {
        assertThat(Legality.violations(summed("reshape(70368744177664i64, newshape=[1])")))
                .isEmpty();
        assertThat(Legality.violations(summed("reshape(-70368744177664i64, newshape=[1])")))
                .isEmpty();
        assertThatThrownBy(() -> summed("reshape(1152921504606846976i64, newshape=[1])"))
                .hasMessageContaining("a bias of nn.bias_add is 1152921504606846976; expected -2^46 to 2^46");
        assertThatThrownBy(() -> summed("%b"))
                .hasMessageContaining("the bias of nn.bias_add, int64, is computed; expected a constant");
    }

    @Test
    void anLstmsBiasesOf64BitsAreLimited() {
        OperatorCases lstm = SingleOperatorTest.operators()
                .filter(operator -> operator.name().equals("LSTM_INT16"))
                .findFirst()
                .orElseThrow();
        Function wide = lstm.function(0, TfliteRounding.MICRO, "m");
        assertThat(Legality.violations(wide)).isEmpty();
        Binding binding = layer(wide);
        Constant bias = binding.constant(Lstm.BIASES);
        List<Arg> args = new ArrayList<>(binding.args());
        byte[] most = new byte[(int) bias.type().bytes()];
        most[Long.BYTES - 1] = 0x40;
        args.set(Lstm.BIASES, new Constant("b", bias.type(), Bytes.wrap(most)));
        Binding changed = new Binding(binding.id(), binding.op(), args, binding.type(), binding.origin());
        assertThat(Legality.violations(wide.withBindings(wide.bindings().stream()
                        .map(each -> each.equals(binding) ? changed : each)
                        .toList())))
                .extracting(Violation::what)
                .containsExactly("a bias of tfl.unidirectional_sequence_lstm is 4611686018427387904");
    }

    private static Binding layer(Function function) {
        return function.bindings().stream()
                .filter(binding -> binding.op() instanceof Lstm)
                .findFirst()
                .orElseThrow();
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
