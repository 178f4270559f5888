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

/** Products of matrices and the like that the reference kernels refuse, or leave undefined. */
class BadSequenceTest {
    private static final Options PLAIN =
            Options.table(BuiltinOptions.BatchMatMulOptions, Field.bool(0, false), Field.bool(1, false));

    private final TfliteModelBuilder model = new TfliteModelBuilder();

    private void multiply(TensorSpec a, TensorSpec b, TensorSpec out, String... expected) {
        int x = model.tensor(a);
        int y = model.tensor(b);
        int z = model.tensor(out);
        model.operator(BuiltinOperator.BATCH_MATMUL, 1, PLAIN, new int[] {x, y}, z)
                .inputs(x, y)
                .outputs(z);
        problems(expected);
    }

    private void problems(String... expected) {
        KilnException e = catchThrowableOfType(KilnException.class, model::read);
        assertThat(e).isNotNull();
        assertThat(e.getMessage()).contains("operator #0").contains(expected);
    }

    private static TensorSpec int16(String name, long zeroPoint, int... shape) {
        return TensorSpec.of(name, TensorType.INT16, shape).quantized(0.5f, zeroPoint);
    }

    @Test
    void matricesAreOfOneType() {
        multiply(
                TensorSpec.float32("x", 2, 3),
                TensorSpec.int8("y", 1, 0, 3, 2),
                TensorSpec.float32("z", 2, 2),
                "`y` int8",
                "the same for both matrices");
    }

    @Test
    void matricesOfInt16HaveNoZeroPoints() {
        multiply(int16("x", 0, 2, 3), int16("y", 1, 3, 2), int16("z", 0, 2, 2), "`y` of int16 has a zero point");
    }

    @Test
    void matricesFitEachOther() {
        multiply(
                TensorSpec.float32("x", 2, 3),
                TensorSpec.float32("y", 2, 3),
                TensorSpec.float32("z", 2, 3),
                "3 is not 2");
    }

    @Test
    void vectorsAreNoMatrices() {
        multiply(
                TensorSpec.float32("x", 3),
                TensorSpec.float32("y", 3, 3),
                TensorSpec.float32("z", 3),
                "must have ranks from 2 to 5");
    }

    @Test
    void batchesBroadcast() {
        multiply(
                TensorSpec.float32("x", 2, 3, 3),
                TensorSpec.float32("y", 4, 3, 3),
                TensorSpec.float32("z", 4, 3, 3),
                "do not broadcast");
    }

    @Test
    void sumsStayWithin32Bits() {
        multiply(
                TensorSpec.int8("x", 1, 0, 1, 40000),
                TensorSpec.int8("y", 1, 0, 40000, 1),
                TensorSpec.int8("z", 1, 0, 1, 1),
                "may exceed 32 bits");
    }

    @Test
    void cumulativeSumsAreRescaledToLess() {
        int x = model.tensor(TensorSpec.int8("x", 0x1p19f, 0, 4));
        int axis = model.tensor(TensorSpec.int32("axis", 0));
        int y = model.tensor(TensorSpec.int8("y", 1, 0, 4));
        Options options = Options.table(BuiltinOptions.CumsumOptions, Field.bool(0, false), Field.bool(1, false));
        model.operator(BuiltinOperator.CUMSUM, 1, options, new int[] {x, axis}, y)
                .inputs(x)
                .outputs(y);
        problems("the input's scale is 524288.0 times the output's", "less than 2^19 times");
    }

    private void update(TensorSpec data, TensorSpec update, TensorSpec start, String... expected) {
        int x = model.tensor(data);
        int part = model.tensor(update);
        int from = model.tensor(start);
        int y = model.tensor(TensorSpec.float32("y", 2, 3));
        model.operator(BuiltinOperator.DYNAMIC_UPDATE_SLICE, 1, Options.none(), new int[] {x, part, from}, y)
                .inputs(x, part, from)
                .outputs(y);
        problems(expected);
    }

    @Test
    void updatesArePartsOfTheData() {
        update(
                TensorSpec.float32("x", 2, 3),
                TensorSpec.float32("part", 2, 4),
                TensorSpec.of("from", TensorType.INT32, 2),
                "the update (2, 4) does not fit into (2, 3)");
    }

    @Test
    void updatesAreOfTheTypeOfTheData() {
        update(
                TensorSpec.float32("x", 2, 3),
                TensorSpec.of("part", TensorType.INT32, 2, 3),
                TensorSpec.of("from", TensorType.INT32, 2),
                "update must be float32");
    }

    @Test
    void updatesBeginSomewhereAlongEachDimension() {
        update(
                TensorSpec.float32("x", 2, 3),
                TensorSpec.float32("part", 1, 3),
                TensorSpec.of("from", TensorType.INT32, 1),
                "the start (1,) does not have one index for each dimension");
    }
}
