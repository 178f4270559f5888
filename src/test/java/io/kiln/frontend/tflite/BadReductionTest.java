// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.KilnException;
import io.kiln.frontend.tflite.Options.Field;
import org.junit.jupiter.api.Test;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/** Sums that the reference kernels refuse, or leave undefined. */
class BadReductionTest {
    private final TfliteModelBuilder model = new TfliteModelBuilder();

    private void reduce(int builtin, TensorSpec in, TensorSpec out, String... expected) {
        int x = model.tensor(in);
        int axes = model.tensor(TensorSpec.int32("axes", 0));
        int y = model.tensor(out);
        Options options = Options.table(BuiltinOptions.ReducerOptions, Field.bool(0, false));
        model.operator(builtin, 2, options, new int[] {x, axes}, y).inputs(x).outputs(y);
        KilnException e = catchThrowableOfType(KilnException.class, model::read);
        assertThat(e).isNotNull();
        assertThat(e.getMessage()).contains("operator #0").contains(expected);
    }

    private static TensorSpec wide(String name, float scale, int zeroPoint, int... shape) {
        return TensorSpec.of(name, TensorType.INT16, shape).quantized(scale, zeroPoint);
    }

    @Test
    void sumsThatMayExceed32BitsAreRefused() {
        reduce(
                BuiltinOperator.MEAN,
                wide("x", 1, 0, 65_536),
                wide("y", 1, 0),
                "sums of 65536 elements may exceed 32 bits",
                "at most 65535 elements in a sum");
    }

    @Test
    void theZeroPointCountsForTheLongestSum() {
        reduce(
                BuiltinOperator.SUM,
                wide("x", 1, 32_767, 40_000),
                wide("y", 1, 0),
                "sums of 40000 elements may exceed 32 bits",
                "at most 32768 elements in a sum");
    }

    @Test
    void typesAreThoseOfTheReferenceKernel() {
        reduce(
                BuiltinOperator.SUM,
                TensorSpec.of("x", TensorType.INT32, 4),
                TensorSpec.of("y", TensorType.INT32),
                "element type int32 of `x` is not supported here",
                "expected int8, int16, float32");
    }

    @Test
    void scalesMustBeThere() {
        reduce(BuiltinOperator.MEAN, TensorSpec.of("x", TensorType.INT8, 4), TensorSpec.int8("y", 1, 0), "`x`");
    }
}
