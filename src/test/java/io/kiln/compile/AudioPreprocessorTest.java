// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.frontend.tflite.LittleEndian;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A whole audio front end: the features that TensorFlow Lite Micro expects, and the same from the generated C. */
class AudioPreprocessorTest {
    @TempDir
    private Path folder;

    /** Samples of a word from the resource. */
    private static Bytes word(String word) throws IOException {
        try (InputStream in = AudioPreprocessorTest.class.getResourceAsStream("audio_30ms.txt")) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            int begin = text.indexOf("word " + word + "\n") + word.length() + 6;
            int end = text.indexOf("word", begin);
            return samples(Arrays.stream(text.substring(begin, end < 0 ? text.length() : end)
                            .strip()
                            .split("\\s+", -1))
                    .mapToInt(Integer::parseInt)
                    .toArray());
        }
    }

    private static Bytes samples(int... values) {
        return Bytes.wrap(LittleEndian.ofShorts(values));
    }

    /** What micro_speech_test.cc expects of the words. */
    @ParameterizedTest
    @CsvSource({
        "no, 126 103 124 102 124 102 123 100 118 97 118 100 118 98 121 100 121 98 117 91 96 74 54 87 100 87 109 92 91"
                + " 80 64 55 83 74 74 78 114 95 101 81",
        "yes, 124 105 126 103 125 101 123 100 116 98 115 97 113 90 91 82 104 96 117 97 121 103 126 101 125 104 126 104"
                + " 125 101 116 90 81 74 80 71 83 76 82 71"
    })
    void featuresAreThoseOfTensorFlowLiteMicro(String word, String expected) throws IOException {
        Function function = AudioPreprocessorModel.ofWindows().read();
        byte[] features = Interpreter.run(function, List.of(word(word))).get(0).toArray();
        List<Integer> numbers = new ArrayList<>();
        for (byte feature : features) {
            numbers.add((int) feature);
        }
        assertThat(numbers)
                .isEqualTo(Arrays.stream(expected.split(" ", -1))
                        .map(Integer::valueOf)
                        .toList());
    }

    /** Sound that gets louder, cut into frames by the model or beforehand, by the interpreter or by C. */
    @Test
    void streamsAreWindowsThatOverlap() {
        Random random = new Random(7);
        int rounds = 6;
        int overlap = AudioPreprocessorModel.WINDOW - AudioPreprocessorModel.STEP;
        int[] sound = new int[overlap + rounds * AudioPreprocessorModel.STEP];
        for (int i = overlap; i < sound.length; i++) {
            sound[i] = (int) (Math.sin(i * i * 1e-4) * i * 8 + random.nextGaussian() * i);
        }
        Function ofWindows = AudioPreprocessorModel.ofWindows().read();
        Function ofStreams = AudioPreprocessorModel.ofStreams().read();
        Interpreter.State windowState = Interpreter.State.initial(ofWindows);
        Interpreter.State streamState = Interpreter.State.initial(ofStreams);
        List<Bytes> steps = new ArrayList<>();
        ByteBuffer expected = ByteBuffer.allocate(rounds * (AudioPreprocessorModel.CHANNELS + 1));
        for (int r = 0; r < rounds; r++) {
            int at = r * AudioPreprocessorModel.STEP;
            Bytes window = samples(Arrays.copyOfRange(sound, at, at + AudioPreprocessorModel.WINDOW));
            Bytes step = samples(Arrays.copyOfRange(sound, at + overlap, at + AudioPreprocessorModel.WINDOW));
            Bytes features =
                    Interpreter.run(ofWindows, List.of(window), windowState).get(0);
            assertThat(Interpreter.run(ofStreams, List.of(step), streamState))
                    .containsExactly(features, Bytes.wrap(new byte[] {1}));
            steps.add(step);
            expected.put(features.toArray()).put((byte) 1);
        }
        for (Optimize optimize : List.of(Optimize.SPEED, Optimize.RAM)) {
            CompiledModel compiled = ModelCompiler.compile(
                    RequestDraft.of(Path.of("audio.tflite"), "c -keys=cpu")
                            .name("audio")
                            .optimize(optimize)
                            .build(),
                    ofStreams);
            HostProgram program = HostProgram.build(
                    folder.resolve(optimize.name()),
                    List.of(compiled.library().metadata()),
                    List.of(compiled.library().artifacts().artifacts()));
            assertThat(program.run(steps)).isEqualTo(Bytes.wrap(expected.array()));
        }
    }
}
