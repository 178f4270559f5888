// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.KilnException;
import org.junit.jupiter.api.Test;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/** Element-wise operators that the reference kernels refuse, or leave undefined. */
class BadElementwiseTest {
    private final TfliteModelBuilder model = new TfliteModelBuilder();

    private void unary(int builtin, Options options, TensorSpec in, TensorSpec out, String... expected) {
        int x = model.tensor(in);
        int y = model.tensor(out);
        model.operator(builtin, 1, options, new int[] {x}, y).inputs(x).outputs(y);
        problems(expected);
    }

    private void binary(int builtin, TensorSpec lhs, TensorSpec rhs, TensorSpec out, String... expected) {
        int x = model.tensor(lhs);
        int y = model.tensor(rhs);
        int z = model.tensor(out);
        model.operator(builtin, 1, Options.none(), new int[] {x, y}, z)
                .inputs(x, y)
                .outputs(z);
        problems(expected);
    }

    private void problems(String... expected) {
        KilnException e = catchThrowableOfType(KilnException.class, model::read);
        assertThat(e).isNotNull();
        assertThat(e.getMessage()).contains("operator #0").contains(expected);
    }

    private static TensorSpec int16(String name, float scale, long zeroPoint) {
        return TensorSpec.of(name, TensorType.INT16, 4).quantized(scale, zeroPoint);
    }

    @Test
    void typesAreThoseOfTheReferenceKernel() {
        unary(
                BuiltinOperator.SIN,
                Options.none(),
                TensorSpec.int8("x", 1, 0, 4),
                TensorSpec.float32("y", 4),
                "element type int8 of `x`",
                "expected float32");
    }

    @Test
    void castsToTypesWithoutArithmeticAreRefused() {
        unary(
                BuiltinOperator.CAST,
                Options.none(),
                TensorSpec.float32("x", 4),
                TensorSpec.of("y", TensorType.UINT64, 4),
                "element type uint64 of `y`");
    }

    @Test
    void quantizationThatIsMissingIsNamed() {
        unary(
                BuiltinOperator.LOGISTIC,
                Options.none(),
                TensorSpec.of("x", TensorType.INT8, 4),
                TensorSpec.of("y", TensorType.INT8, 4),
                "`x` has no scale",
                "`y` has no scale");
    }

    @Test
    void theLogisticFunctionHasOneOutputScale() {
        unary(
                BuiltinOperator.LOGISTIC,
                Options.none(),
                TensorSpec.int8("x", 0.1f, 0, 4),
                TensorSpec.int8("y", 0.1f, 0, 4),
                "output `y` has scale 0.1 and zero point 0",
                "scale 0.00390625 and zero point -128");
    }

    @Test
    void zeroPointsOfInt16AreZero() {
        binary(
                BuiltinOperator.MUL,
                int16("x", 0.1f, 1),
                int16("y", 0.1f, 0),
                int16("z", 0.1f, 2),
                "`x` is int16 with zero point 1",
                "`z` is int16 with zero point 2");
    }

    @Test
    void comparedScalesAreBelowOne() {
        binary(
                BuiltinOperator.LESS,
                TensorSpec.int8("x", 1.5f, 0, 4),
                TensorSpec.int8("y", 0.5f, 0, 4),
                TensorSpec.of("z", TensorType.BOOL, 4),
                "`x` has scale 1.5",
                "a scale below 1");
    }

    @Test
    void scalesThatLeaveTheFixedPointAreRefused() {
        binary(
                BuiltinOperator.ADD,
                TensorSpec.int8("x", 1e6f, 0, 4),
                TensorSpec.int8("y", 1f, 0, 4),
                TensorSpec.int8("z", 1e-3f, 0, 4),
                "are too far apart");
    }

    @Test
    void shapesThatDoNotBroadcastAreRefused() {
        binary(
                BuiltinOperator.MAXIMUM,
                TensorSpec.float32("x", 4),
                TensorSpec.float32("y", 3),
                TensorSpec.float32("z", 4),
                "do not broadcast");
    }

    @Test
    void slopesThatAreNoNumbersAreRefused() {
        unary(
                BuiltinOperator.LEAKY_RELU,
                Options.table(BuiltinOptions.LeakyReluOptions, Options.Field.float32(0, Float.NaN)),
                TensorSpec.float32("x", 4),
                TensorSpec.float32("y", 4),
                "alpha is NaN");
    }

    @Test
    void dimensionsOfFilledTensorsAreKnownAndSmall() {
        int dims = model.tensor(TensorSpec.int32("dims", 1 << 20, 1 << 20));
        int x = model.tensor(TensorSpec.of("x", TensorType.FLOAT32));
        int y = model.tensor(TensorSpec.float32("y", 4));
        model.operator(BuiltinOperator.FILL, 1, Options.none(), new int[] {dims, x}, y)
                .inputs(x)
                .outputs(y);
        problems("dimension 1 is 1048576", "bytes");
    }

    @Test
    void pairsOfQuantizeAreNamed() {
        unary(
                BuiltinOperator.QUANTIZE,
                Options.none(),
                TensorSpec.of("x", TensorType.UINT8, 4).quantized(0.1f, 0),
                int16("y", 0.1f, 0),
                "from uint8 to int16 is not supported",
                "from uint8 to int8");
    }
}
