// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.frontend.ReadLimits;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.TensorType;

/** Weights with a scale for each block, and of fewer bits than a byte. */
class EncodedWeightsTest {
    private static final byte INT2 = 19;

    @TempDir
    private Path folder;

    private final TfliteModelBuilder model = new TfliteModelBuilder();

    private static float[] answer(Function function, float... input) {
        ByteBuffer answer = Interpreter.run(function, List.of(Bytes.wrap(LittleEndian.ofFloats(input))))
                .get(0)
                .buffer();
        float[] floats = new float[answer.remaining() / Float.BYTES];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = answer.getFloat();
        }
        return floats;
    }

    private void dense(TensorSpec weights, TensorSpec scales, int block) {
        int x = model.tensor(TensorSpec.float32("x", 1, 4));
        int w = model.tensor(weights);
        int s = model.tensor(scales);
        int y = model.tensor(TensorSpec.float32("y", 1, 2));
        model.blockwise(w, s, block)
                .operator(
                        BuiltinOperator.FULLY_CONNECTED,
                        12,
                        Options.fullyConnected(Options.NO_ACTIVATION, false),
                        new int[] {x, w, -1},
                        y)
                .inputs(x)
                .outputs(y);
    }

    private static TensorSpec int4(int... elements) {
        byte[] packed = new byte[elements.length / 2];
        for (int i = 0; i < packed.length; i++) {
            packed[i] = (byte) ((elements[2 * i] & 15) | (elements[2 * i + 1] << 4));
        }
        return TensorSpec.of("w", TensorType.INT4, 2, elements.length / 2).withData(packed);
    }

    private static TensorSpec scales(float... values) {
        return TensorSpec.float32("s", 2, values.length / 2).withData(LittleEndian.ofFloats(values));
    }

    @Test
    void aScaleForEachBlockMultipliesItsElements() {
        dense(int4(1, -2, 3, -8, 7, 6, 5, 4), scales(0.5f, 2, 1, 0.25f), 2);
        assertThat(answer(model.read(), 1, 1, 1, 1)).containsExactly(-0.5f - 10, 13 + 2.25f);
    }

    @Test
    void blocksThatDoNotDivideARowAreTold() {
        dense(int4(1, -2, 3, -8, 7, 6, 5, 4), scales(0.5f, 2, 1, 0.25f), 3);
        assertThatThrownBy(model::read).hasMessageContaining("have blocks of 3");
    }

    @Test
    void blocksWithoutAScaleAreTold() {
        dense(int4(1, -2, 3, -8, 7, 6, 5, 4), scales(0.5f, 2), 2);
        assertThatThrownBy(model::read)
                .hasMessageContaining("its blocks have the scales")
                .hasMessageContaining("4 constants");
    }

    @Test
    void scalesThatHaveBlocksThemselvesAreTold() {
        dense(int4(1, -2, 3, -8, 7, 6, 5, 4), scales(0.5f, 2, 1, 0.25f), 2);
        model.blockwise(2, 2, 2);
        assertThatThrownBy(model::read).hasMessageContaining("its blocks are described by tensor #2");
    }

    /** Weights 1, 2, 3, 4 from the second number of a file on. */
    private Function external(String name) throws IOException {
        int x = model.tensor(TensorSpec.float32("x", 1, 4));
        int w = model.tensor(TensorSpec.float32("w", 1, 4));
        int y = model.tensor(TensorSpec.float32("y", 1, 1));
        model.external(w, name, 4, 16)
                .operator(
                        BuiltinOperator.FULLY_CONNECTED,
                        1,
                        Options.fullyConnected(Options.NO_ACTIVATION, false),
                        new int[] {x, w, -1},
                        y)
                .inputs(x)
                .outputs(y);
        Files.write(folder.resolve("weights.bin"), LittleEndian.ofFloats(9, 1, 2, 3, 4));
        Path file = Files.write(folder.resolve("model.tflite"), model.build());
        assertThat(TfliteFrontend.externalFiles(file, ReadLimits.STANDARD)).hasSize(name.equals("weights.bin") ? 1 : 0);
        return TfliteFrontend.read(file, "m");
    }

    @Test
    void dataInAFileBesideTheModelIsRead() throws IOException {
        assertThat(answer(external("weights.bin"), 1, 10, 100, 1000)).containsExactly(4321);
    }

    @ParameterizedTest
    @ValueSource(strings = {"../weights.bin", "/etc/passwd", "folder/weights.bin", ".hidden", "missing.bin", ""})
    void dataElsewhereIsNot(String name) {
        assertThatThrownBy(() -> external(name))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("external data");
    }

    @Test
    void dataOfAModelInMemoryIsTold() throws IOException {
        external("weights.bin");
        assertThatThrownBy(model::read).hasMessageContaining("the model is not a file");
    }

    @Test
    void weightsOfTwoBitsAreReadFromTheLowestBitsOn() {
        int x = model.tensor(TensorSpec.float32("x", 1, 4));
        // 1, -2, 0, -1 from the lowest bits on.
        int w = model.tensor(TensorSpec.of("w", INT2, 1, 4).quantized(0.5f, 0).withData((byte) 0b11_00_10_01));
        int y = model.tensor(TensorSpec.float32("y", 1, 1));
        model.operator(
                        BuiltinOperator.FULLY_CONNECTED,
                        12,
                        Options.fullyConnected(Options.NO_ACTIVATION, false),
                        new int[] {x, w, -1},
                        y)
                .inputs(x)
                .outputs(y);
        assertThat(answer(model.read(), 1, 10, 100, 1000)).containsExactly(0.5f - 10 - 500);
    }
}
