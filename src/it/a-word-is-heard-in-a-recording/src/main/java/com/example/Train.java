// SPDX-License-Identifier: Apache-2.0
package com.example;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Trains the network; writes it as {@code words.onnx} with samples and labels for quantizing it, and recordings of other words. */
public final class Train {
    private static final int EXAMPLES = 400;
    private static final int EPOCHS = 30;
    private static final int BATCH = 16;
    private static final float RATE = 0.02f;
    private static final int SAMPLES = 100;

    private Train() {}

    /**
     * @param args the folder to write to
     */
    public static void main(String[] args) throws IOException {
        Path folder = Path.of(args[0]);
        Network network = new Network(1);
        Words words = new Words(2);
        float[][] features = new float[EXAMPLES][];
        for (int k = 0; k < EXAMPLES; k++) {
            features[k] = Features.of(words.say(k % Words.NAMES.length));
        }
        for (int step = 0; step < EPOCHS * EXAMPLES / BATCH; step++) {
            for (int k = 0; k < BATCH; k++) {
                int example = (step * BATCH + k) % EXAMPLES;
                network.backward(features[example], example % Words.NAMES.length, 1f / BATCH);
            }
            network.learn(RATE);
        }
        Files.write(folder.resolve("words.onnx"), Onnx.model(network));
        writeSamples(folder, network);
        writeRecordings(Files.createDirectories(folder.resolve("recordings")));
    }

    /** Words that the network has not heard. */
    private static void writeSamples(Path folder, Network network) throws IOException {
        Words words = new Words(3);
        ByteBuffer samples = ByteBuffer.allocate(Float.BYTES * SAMPLES * Features.ROWS * Features.CHANNELS)
                .order(ByteOrder.LITTLE_ENDIAN);
        StringBuilder labels = new StringBuilder("sample,label\n");
        int right = 0;
        for (int k = 0; k < SAMPLES; k++) {
            int label = k % Words.NAMES.length;
            float[] features = Features.of(words.say(label));
            for (float feature : features) {
                samples.putFloat(feature);
            }
            labels.append(k).append(',').append(label).append('\n');
            right += largest(network.forward(features)) == label ? 1 : 0;
        }
        System.out.println("Trained on " + EXAMPLES + " words; of " + SAMPLES + " others it knows " + right);
        Files.write(folder.resolve("samples.npy"), npy(samples.array()));
        Files.writeString(folder.resolve("labels.csv"), labels);
    }

    /** One recording of each word: as WAV files, which kiln:verify plays to the model, and as C for the program. */
    private static void writeRecordings(Path folder) throws IOException {
        Words words = new Words(4);
        StringBuilder header = new StringBuilder("#include <stdint.h>\n\nstatic const int16_t recordings[")
                .append(Words.NAMES.length)
                .append("][")
                .append(Words.SAMPLES)
                .append("] = {\n");
        for (int word = 0; word < Words.NAMES.length; word++) {
            short[] audio = words.say(word);
            Files.write(folder.resolve("audio_" + word + ".wav"), wav(audio));
            header.append("    {");
            for (short sample : audio) {
                header.append(sample).append(", ");
            }
            header.append("},\n");
        }
        Files.writeString(folder.resolve("recordings.h"), header.append("};\n"));
    }

    /** A WAV file: one channel of 16 bits. */
    private static byte[] wav(short[] audio) {
        ByteBuffer wav = ByteBuffer.allocate(44 + 2 * audio.length).order(ByteOrder.LITTLE_ENDIAN);
        wav.put("RIFF".getBytes(StandardCharsets.US_ASCII)).putInt(36 + 2 * audio.length);
        wav.put("WAVEfmt ".getBytes(StandardCharsets.US_ASCII))
                .putInt(16)
                .putShort((short) 1)
                .putShort((short) 1);
        wav.putInt(Words.RATE).putInt(2 * Words.RATE).putShort((short) 2).putShort((short) 16);
        wav.put("data".getBytes(StandardCharsets.US_ASCII)).putInt(2 * audio.length);
        for (short sample : audio) {
            wav.putShort(sample);
        }
        return wav.array();
    }

    private static int largest(float[] values) {
        int largest = 0;
        for (int i = 1; i < values.length; i++) {
            largest = values[i] > values[largest] ? i : largest;
        }
        return largest;
    }

    /** NumPy's file of an array: a magic number, the length of the header, the header, the elements. */
    private static byte[] npy(byte[] elements) {
        String header = String.format(
                Locale.ROOT,
                "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 1, %d), }",
                SAMPLES,
                Features.ROWS * Features.CHANNELS);
        int padding = 63 - (10 + header.length()) % 64;
        byte[] text = (header + " ".repeat(padding) + "\n").getBytes(StandardCharsets.US_ASCII);
        return ByteBuffer.allocate(10 + text.length + elements.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0})
                .putShort((short) text.length)
                .put(text)
                .put(elements)
                .array();
    }
}
