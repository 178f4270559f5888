// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.KilnException;
import org.junit.jupiter.api.Test;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.TensorType;

/** Normalizations of int8 and hybrid lookups that the reference kernels refuse, or leave undefined. */
class BadNormalizationTest {
    private final TfliteModelBuilder model = new TfliteModelBuilder();

    private void unary(int builtin, TensorSpec in, TensorSpec out, String... expected) {
        int x = model.tensor(in);
        int y = model.tensor(out);
        model.operator(builtin, 2, Options.none(), new int[] {x}, y).inputs(x).outputs(y);
        problems(expected);
    }

    private void problems(String... expected) {
        KilnException e = catchThrowableOfType(KilnException.class, model::read);
        assertThat(e).isNotNull();
        assertThat(e.getMessage()).contains("operator #0").contains(expected);
    }

    @Test
    void theQuantizationOfTheOutputIsGiven() {
        unary(
                BuiltinOperator.LOG_SOFTMAX,
                TensorSpec.int8("x", 1, 0, 4),
                TensorSpec.int8("y", 1f / 256, -128, 4),
                "output `y` has scale",
                "scale 0.0625 and zero point 127");
    }

    @Test
    void scalesBelowTheFixedPointAreRefused() {
        unary(
                BuiltinOperator.LOG_SOFTMAX,
                TensorSpec.int8("x", 0x1p-26f, 0, 4),
                TensorSpec.int8("y", 1f / 16, 127, 4),
                "the input has scale",
                "2^-25 or more");
    }

    @Test
    void scalesAboveTheFixedPointAreRefused() {
        int x = model.tensor(TensorSpec.of("x", TensorType.INT16, 4).quantized(3, 0));
        int y = model.tensor(TensorSpec.of("y", TensorType.INT16, 4).quantized(0x1p-15f, 0));
        model.operator(BuiltinOperator.SOFTMAX, 2, Options.softmax(2), new int[] {x}, y)
                .inputs(x)
                .outputs(y);
        problems("beta 2.0 and input scale 3.0", "their product must be below 5");
    }

    @Test
    void vectorsWhoseSumOverflowsAreRefused() {
        unary(
                BuiltinOperator.L2_NORMALIZATION,
                TensorSpec.int8("x", 1, 0, 33_026),
                TensorSpec.int8("y", 1f / 128, 0, 33_026),
                "vectors have 33026 elements",
                "at most 33025");
    }

    @Test
    void typesAreThoseOfTheReferenceKernel() {
        unary(
                BuiltinOperator.LOG_SOFTMAX,
                TensorSpec.of("x", TensorType.INT16, 4).quantized(1, 0),
                TensorSpec.of("y", TensorType.INT16, 4).quantized(1, 0),
                "float32 of at least one dimension, or int8");
    }

    @Test
    void tablesOfHybridLookupsAreSymmetric() {
        int indices = model.tensor(TensorSpec.of("indices", TensorType.INT32, 2));
        int table = model.tensor(TensorSpec.int8("table", 1, 3, 2, 2).withData(new byte[4]));
        int y = model.tensor(TensorSpec.float32("y", 2, 2));
        model.operator(BuiltinOperator.EMBEDDING_LOOKUP, 1, Options.none(), new int[] {indices, table}, y)
                .inputs(indices)
                .outputs(y);
        problems("the table has zero point 3", "expected 0");
    }
}
