// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Functions of numbers whose squares are infinite, and of infinities, are those of ONNX Runtime. */
class LargeArgumentsTest {
    private static final float[] MAGNITUDES = {
        Float.POSITIVE_INFINITY,
        Float.MAX_VALUE,
        1e38f,
        1e30f,
        1e20f,
        1.9e19f,
        1e10f,
        2e6f,
        1e6f,
        5e5f,
        1e4f,
        100,
        3,
        1,
        0.5f,
        1e-4f,
        0
    };

    private static Bytes inputs() {
        ByteBuffer data =
                ByteBuffer.allocate(2 * MAGNITUDES.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (float magnitude : MAGNITUDES) {
            data.putFloat(magnitude).putFloat(-magnitude);
        }
        return Bytes.wrap(data.array());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Asin",
                "Acos",
                "Atan",
                "Sinh",
                "Cosh",
                "Tanh",
                "Asinh",
                "Acosh",
                "Atanh",
                "Exp",
                "Log",
                "Sqrt",
                "Erf",
                "Sigmoid",
                "Softplus",
                "Softsign",
                "Elu",
                "Selu",
                "Celu",
                "HardSigmoid",
                "Mish",
                "Gelu"
            })
    void areThoseOfOnnxRuntime(String operator) {
        Bytes input = inputs();
        ModelBuilder model = new ModelBuilder(20);
        model.input("x", ElementType.FLOAT, List.of(2 * MAGNITUDES.length));
        model.output(model.node(operator, List.of("x"), "y", Map.of()), ElementType.FLOAT);
        Bytes file = model.build();
        Function function = OnnxFrontend.read(file, "m.onnx", "m", InputShapes.NONE);
        ByteBuffer actual = Interpreter.run(function, List.of(input)).get(0).buffer();
        ByteBuffer expected =
                OnnxRuntime.run(file, function.params(), List.of(input)).get(0).buffer();
        for (int i = 0; i < expected.capacity(); i += Float.BYTES) {
            float e = expected.getFloat(i);
            float a = actual.getFloat(i);
            if (Float.compare(e, a) != 0) {
                assertThat(Float.isFinite(e) && Math.abs(e - a) <= 1e-5f * (1 + Math.abs(e)))
                        .as("%s of %s is %s, not %s", operator, input.buffer().getFloat(i), a, e)
                        .isTrue();
            }
        }
    }
}
