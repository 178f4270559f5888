// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.reference.Interpreter;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;

/** CUMSUM of int8, which TensorFlow Lite Micro alone has: compared with what its kernel's arithmetic amounts to. */
class CumsumTest {
    private static byte[] sums(TensorSpec in, TensorSpec out, boolean exclusive, boolean reverse, byte... data) {
        TfliteModelBuilder model = new TfliteModelBuilder();
        int x = model.tensor(in);
        int axis = model.tensor(TensorSpec.int32("axis", -1));
        int y = model.tensor(out);
        Options options = Options.table(BuiltinOptions.CumsumOptions, Field.bool(0, exclusive), Field.bool(1, reverse));
        model.operator(BuiltinOperator.CUMSUM, 1, options, new int[] {x, axis}, y)
                .inputs(x)
                .outputs(y);
        return Interpreter.run(model.read(), List.of(Bytes.wrap(data))).get(0).toArray();
    }

    private static byte[] ofFive(int zeroPoint, boolean exclusive, boolean reverse) {
        TensorSpec in = TensorSpec.int8("x", 0.5f, zeroPoint, 5);
        TensorSpec out = TensorSpec.int8("y", 0.5f, 10, 5);
        return sums(in, out, exclusive, reverse, (byte) 1, (byte) 2, (byte) 3, (byte) 4, (byte) 5);
    }

    @Test
    void sumsAreOfTheElementsSoFar() {
        assertThat(ofFive(0, false, false)).containsExactly(11, 13, 16, 20, 25);
        assertThat(ofFive(0, true, false)).containsExactly(10, 11, 13, 16, 20);
        assertThat(ofFive(0, false, true)).containsExactly(25, 24, 22, 19, 15);
        assertThat(ofFive(0, true, true)).containsExactly(24, 22, 19, 15, 10);
    }

    @Test
    void theZeroPointCountsOnceMoreThanThereAreElements() {
        assertThat(ofFive(1, false, false)).containsExactly(10 - 1, 10 - 1 + 1, 10 - 1 + 3, 10 - 1 + 6, 10 - 1 + 10);
        assertThat(ofFive(1, true, false)).containsExactly(10 - 1, 10 - 1, 10 - 1 + 1, 10 - 1 + 3, 10 - 1 + 6);
    }

    @Test
    void sumsWrapAroundAt4096() {
        byte[] data = new byte[17];
        Arrays.fill(data, Byte.MAX_VALUE);
        byte[] sums = sums(TensorSpec.int8("x", 1, -128, 17), TensorSpec.int8("y", 64, 0, 17), false, false, data);
        assertThat(sums[14]).isEqualTo((byte) Math.round((128 + 15 * 255) / 64f));
        assertThat(sums[15]).isEqualTo((byte) Math.round((128 + 16 * 255 - 8192) / 64f));
        assertThat(sums[16]).isEqualTo((byte) Math.round((128 + 17 * 255 - 8192) / 64f));
    }
}
