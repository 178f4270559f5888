// SPDX-License-Identifier: Apache-2.0
package io.kiln.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.WholeFiles;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The shipped model and its vectors are what this code makes; {@code -Dkiln.update=true} writes them anew. */
class GestureModelTest {
    private static final Path QUICKSTART = Path.of("src", "it", "quickstart", "src");
    private static final Path MODEL = QUICKSTART.resolve(Path.of("main", "model", "gesture.tflite"));
    private static final Path VECTORS = QUICKSTART.resolve(Path.of("test", "vectors"));

    /** Seeds of data that training and calibration never saw. */
    private static final long VECTOR_SEED = 99;

    private static final long TEST_SEED = 1234;

    private final byte[] model = GestureModel.write();

    @Test
    void shippedFilesAreReproduced() throws IOException {
        Random random = new Random(VECTOR_SEED);
        check(MODEL, model);
        for (Gesture gesture : Gesture.values()) {
            byte[] input = GestureModel.input(gesture.sample(random));
            check(VECTORS.resolve("input_" + gesture.label() + ".bin"), input);
            assertThat(answer(function(), input)).isEqualTo(gesture);
        }
    }

    @Test
    void quantizedModelTellsUnseenGestures() {
        Function function = function();
        Random random = new Random(TEST_SEED);
        int right = 0;
        for (int i = 0; i < 400; i++) {
            Gesture gesture = Gesture.LABELS.get(i % Gesture.LABELS.size());
            right += answer(function, GestureModel.input(gesture.sample(random))) == gesture ? 1 : 0;
        }
        assertThat(right).isGreaterThan(380);
    }

    private Function function() {
        return TfliteFrontend.read(Bytes.wrap(model), "gesture.tflite", "gesture");
    }

    private static Gesture answer(Function function, byte[] input) {
        byte[] scores =
                Interpreter.run(function, List.of(Bytes.copyOf(input))).get(0).toArray();
        int best = 0;
        for (int i = 1; i < scores.length; i++) {
            best = scores[i] > scores[best] ? i : best;
        }
        return Gesture.LABELS.get(best);
    }

    private static void check(Path file, byte[] content) throws IOException {
        if (Boolean.getBoolean("kiln.update")) {
            WholeFiles.write(file, content);
        }
        assertThat(Files.readAllBytes(file)).as(file.toString()).isEqualTo(content);
    }
}
