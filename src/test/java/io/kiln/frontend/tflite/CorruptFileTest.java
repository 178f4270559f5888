// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.fuzz.ReaderProperty;
import io.kiln.ir.Verifier;
import io.kiln.reference.OwnModel;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever a file holds, reading it gives a function that verifies, or a message, and quickly. */
class CorruptFileTest {
    @ParameterizedTest
    @EnumSource(OwnModel.class)
    void flippedBytesGiveAFunctionOrAMessage(OwnModel model) {
        byte[] original = model.file().toArray();
        Random random = new Random(11);
        for (int round = 0; round < 400; round++) {
            byte[] file = original.clone();
            for (int flips = 1 + random.nextInt(8); flips > 0; flips--) {
                file[random.nextInt(file.length)] = (byte) random.nextInt();
            }
            read(file);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = OwnModel.class,
            names = {"SINE", "SUMS", "RECURRENT"})
    void changedOffsetsGiveAFunctionOrAMessage(OwnModel model) {
        byte[] original = model.file().toArray();
        Random random = new Random(12);
        int[] interesting = {0, 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, 4, 1 << 16, original.length};
        for (int round = 0; round < 800; round++) {
            byte[] file = original.clone();
            int at = random.nextInt(file.length / 4 - 1) * 4;
            byte[] word = LittleEndian.ofInts(
                    random.nextBoolean() ? interesting[random.nextInt(interesting.length)] : random.nextInt(4096));
            System.arraycopy(word, 0, file, at, 4);
            read(file);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = OwnModel.class,
            names = {"SINE", "KEYWORDS"})
    void everyTruncationGivesAMessage(OwnModel model) {
        byte[] original = model.file().toArray();
        int step = Math.max(1, original.length / 1500);
        for (int length = 0; length < original.length - 64; length += step) {
            read(Arrays.copyOf(original, length));
        }
    }

    @Test
    void garbageBehindTheIdentifierGivesAMessage() {
        Random random = new Random(13);
        for (int round = 0; round < 2000; round++) {
            byte[] file = new byte[8 + random.nextInt(256)];
            random.nextBytes(file);
            file[0] = (byte) (8 + random.nextInt(64));
            file[1] = 0;
            file[2] = 0;
            file[3] = 0;
            System.arraycopy(Bytes.ofText("TFL3").toArray(), 0, file, 4, 4);
            assertThat(read(file)).isFalse();
        }
    }

    /** Whether the file was read as a model. */
    private static boolean read(byte[] file) {
        return ReaderProperty.holds(() -> {
            try {
                Verifier.verify(TfliteFrontend.read(Bytes.wrap(file), "corrupt.tflite", "default"));
            } catch (KilnException e) {
                assertThat(e.getMessage()).contains("corrupt.tflite");
                throw e;
            }
        });
    }
}
