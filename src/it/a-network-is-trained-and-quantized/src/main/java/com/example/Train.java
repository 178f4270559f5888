// SPDX-License-Identifier: Apache-2.0
package com.example;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Trains the network, and writes it as {@code digits.onnx} with samples and labels for quantizing it. */
public final class Train {
    private static final int STEPS = 300;
    private static final int BATCH = 16;
    private static final float RATE = 0.05f;
    private static final int SAMPLES = 200;

    private Train() {}

    /**
     * @param args the folder to write to
     */
    public static void main(String[] args) throws IOException {
        Path folder = Path.of(args[0]);
        Network network = new Network(1);
        Digits digits = new Digits(2);
        for (int step = 0; step < STEPS; step++) {
            for (int k = 0; k < BATCH; k++) {
                int label = (step * BATCH + k) % Digits.CLASSES;
                network.backward(digits.draw(label), label, 1f / BATCH);
            }
            network.learn(RATE * (STEPS - step) / STEPS);
        }
        Files.write(folder.resolve("digits.onnx"), Onnx.model(network));
        writeSamples(folder, network);
    }

    /** Digits that the network has not seen. */
    private static void writeSamples(Path folder, Network network) throws IOException {
        Digits digits = new Digits(3);
        ByteBuffer samples = ByteBuffer.allocate(Float.BYTES * SAMPLES * Digits.SIZE * Digits.SIZE)
                .order(ByteOrder.LITTLE_ENDIAN);
        StringBuilder labels = new StringBuilder("sample,label\n");
        int right = 0;
        for (int k = 0; k < SAMPLES; k++) {
            int label = k % Digits.CLASSES;
            float[] image = digits.draw(label);
            for (float pixel : image) {
                samples.putFloat(pixel);
            }
            labels.append(k).append(',').append(label).append('\n');
            right += largest(network.forward(image)) == label ? 1 : 0;
        }
        System.out.println("Trained on " + STEPS * BATCH + " digits; of " + SAMPLES + " others it knows " + right);
        Files.write(folder.resolve("samples.npy"), npy(samples.array()));
        Files.writeString(folder.resolve("labels.csv"), labels);
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
                "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 1, 1, %d, %d), }",
                SAMPLES,
                Digits.SIZE,
                Digits.SIZE);
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
