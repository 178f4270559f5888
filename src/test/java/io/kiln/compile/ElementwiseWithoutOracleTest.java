// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.TensorSpec;
import io.kiln.frontend.tflite.TfliteModelBuilder;
import io.kiln.reference.Interpreter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.TensorType;

/** What TensorFlow Lite Micro's kernels take and TensorFlow Lite's do not: held against real numbers, and the C against the interpreter. */
class ElementwiseWithoutOracleTest {
    private static final int VALUES = 256;

    @TempDir
    private Path folder;

    private final TfliteModelBuilder model = new TfliteModelBuilder();

    private interface Real {
        double of(double x, double y);
    }

    /** The interpreter's answer, which the generated C must give too. */
    private ByteBuffer answer(Bytes... inputs) throws IOException {
        Path file = folder.resolve("model.tflite");
        Files.write(file, model.build());
        CompiledModel compiled = ModelCompiler.compile(
                RequestDraft.of(file, "c -keys=cpu -model=host").name("model").build());
        HostProgram program = HostProgram.build(
                folder,
                List.of(compiled.library().metadata()),
                List.of(compiled.library().artifacts().artifacts()));
        Bytes expected = Interpreter.run(model.read(), List.of(inputs)).get(0);
        assertThat(program.run(List.of(inputs)).toArray()).isEqualTo(expected.toArray());
        return expected.buffer();
    }

    private static Bytes allInt8() {
        byte[] all = new byte[VALUES];
        for (int i = 0; i < VALUES; i++) {
            all[i] = (byte) (i + Byte.MIN_VALUE);
        }
        return Bytes.wrap(all);
    }

    /** Values of int16 from end to end. */
    private static Bytes someInt16() {
        ByteBuffer all = ByteBuffer.allocate(2 * VALUES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < VALUES; i++) {
            all.putShort((short) Math.min(Short.MAX_VALUE, (i - 128) * 257));
        }
        return Bytes.wrap(all.array());
    }

    /** Every pair of two int8, within one step of the real answer. */
    private void pairs(int builtin, Options options, int lhsZero, int rhsZero, Real real) throws IOException {
        int x = model.tensor(TensorSpec.int8("x", 0.05f, lhsZero, VALUES, 1));
        int y = model.tensor(TensorSpec.int8("y", 0.03f, rhsZero, 1, VALUES));
        int z = model.tensor(TensorSpec.int8("z", 0.07f, 3, VALUES, VALUES));
        model.operator(builtin, 2, options, new int[] {x, y}, z).inputs(x, y).outputs(z);
        ByteBuffer answer = answer(allInt8(), allInt8());
        for (int i = 0; i < VALUES; i++) {
            for (int j = 0; j < VALUES; j++) {
                double a = 0.05 * (i - 128 - lhsZero);
                double b = 0.03 * (j - 128 - rhsZero);
                byte got = answer.get(i * VALUES + j);
                if (b != 0) {
                    double wanted = Math.max(-128, Math.min(127, real.of(a, b) / 0.07 + 3));
                    assertThat((double) got).isBetween(wanted - 1.01, wanted + 1.01);
                }
            }
        }
    }

    @Test
    void quotientsOfInt8() throws IOException {
        pairs(BuiltinOperator.DIV, Options.none(), -7, 12, (a, b) -> a / b);
    }

    @Test
    void slopesOfInt8() throws IOException {
        pairs(BuiltinOperator.PRELU, Options.none(), 20, -30, (a, b) -> a >= 0 ? a : a * b);
    }

    @Test
    void slopesOfInt16AreInt8() throws IOException {
        int x = model.tensor(TensorSpec.of("x", TensorType.INT16, VALUES, 1).quantized(0.001f, 0));
        int y = model.tensor(TensorSpec.int8("y", 0.03f, 5, 1, VALUES));
        int z = model.tensor(
                TensorSpec.of("z", TensorType.INT16, VALUES, VALUES).quantized(0.004f, 0));
        model.operator(BuiltinOperator.PRELU, 1, Options.none(), new int[] {x, y}, z)
                .inputs(x, y)
                .outputs(z);
        ByteBuffer answer = answer(someInt16(), allInt8());
        ByteBuffer data = someInt16().buffer();
        for (int i = 0; i < VALUES; i++) {
            for (int j = 0; j < VALUES; j++) {
                double a = 0.001 * data.getShort(2 * i);
                double wanted = (a >= 0 ? a : a * 0.03 * (j - 128 - 5)) / 0.004;
                assertThat((double) answer.getShort(2 * (i * VALUES + j)))
                        .isBetween(Math.max(-32768, wanted - 1.01), Math.min(32767, wanted + 1.01));
            }
        }
    }

    @Test
    void squaredDifferencesOfInt16() throws IOException {
        int x = model.tensor(TensorSpec.of("x", TensorType.INT16, VALUES, 1).quantized(0.0001f, 0));
        int y = model.tensor(TensorSpec.of("y", TensorType.INT16, 1, VALUES).quantized(0.00005f, 0));
        int z = model.tensor(
                TensorSpec.of("z", TensorType.INT16, VALUES, VALUES).quantized(0.001f, 0));
        model.operator(BuiltinOperator.SQUARED_DIFFERENCE, 2, Options.none(), new int[] {x, y}, z)
                .inputs(x, y)
                .outputs(z);
        ByteBuffer answer = answer(someInt16(), someInt16());
        ByteBuffer data = someInt16().buffer();
        for (int i = 0; i < VALUES; i++) {
            for (int j = 0; j < VALUES; j++) {
                double difference = 0.0001 * data.getShort(2 * i) - 0.00005 * data.getShort(2 * j);
                // Both sides are rounded to twice the larger scale before they are squared.
                double slack = 2.0002 * Math.abs(difference) * 0.0002 / 0.001 + 1.1;
                double wanted = difference * difference / 0.001;
                assertThat((double) answer.getShort(2 * (i * VALUES + j))).isBetween(wanted - slack, wanted + slack);
            }
        }
    }

    /** The reference kernel starts its sum from 0 and not from the zero point, so that the sum is one zero point too low. */
    @Test
    void sumsOfSeveralInt8() throws IOException {
        int[] in = new int[3];
        for (int i = 0; i < in.length; i++) {
            in[i] = model.tensor(TensorSpec.int8("x" + i, 0.05f, 10, VALUES));
        }
        int z = model.tensor(TensorSpec.int8("z", 0.2f, -4, VALUES));
        model.operator(BuiltinOperator.ADD_N, 1, Options.none(), in, z)
                .inputs(in)
                .outputs(z);
        ByteBuffer answer = answer(allInt8(), allInt8(), allInt8());
        for (int i = 0; i < VALUES; i++) {
            double wanted = 0.05 * (3 * (i - 128 - 10) - 10) / 0.2 - 4;
            assertThat((double) answer.get(i))
                    .isBetween(Math.max(-128, wanted - 0.51), Math.max(-128, Math.min(127, wanted + 0.51)));
        }
    }
}
