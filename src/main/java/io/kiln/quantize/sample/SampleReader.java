// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.sample;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.ir.Parameter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads the samples of a model: a folder of {@code input_<k>.bin} or of {@link OtherSamples}, an array {@code .npy}, or several in an {@code
 * .npz}.
 */
public final class SampleReader {
    /** Limit of all samples together, in bytes. */
    public static final long MAX_BYTES = 1L << 28;

    /** Limit of the number of samples. */
    public static final int MAX_SAMPLES = 100_000;

    /** The labels beside the samples of a folder, if no other file is named. */
    public static final String LABELS = "labels.csv";

    private static final int MAX_FINDINGS = 10;

    private SampleReader() {}

    /**
     * Reads samples.
     *
     * @param path the folder or file
     * @param labels the file of labels; empty for {@link #LABELS} in the folder, if that exists
     * @param inputs the model's inputs
     * @param others reads samples that are not tensors
     * @return at least one sample
     * @throws KilnException for samples that do not fit the inputs or hold NaN or an infinity, and for labels that do
     *     not fit the samples
     */
    public static List<Sample> read(Path path, Optional<Path> labels, List<Parameter> inputs, OtherSamples others) {
        List<Sample> samples = samples(path, inputs, others);
        if (samples.isEmpty()) {
            throw new KilnException(Failure.QUANTIZE.problem(
                    "there are no samples",
                    path.toString(),
                    "input_0.bin and so on, pictures or recordings, or an array with at least one sample",
                    "Correct kiln.quantize.samples"));
        }
        Problems problems = new Problems(Failure.QUANTIZE);
        for (Sample sample : samples) {
            checkNumbers(sample, path, inputs, problems);
        }
        problems.throwIfAny();
        return labelFile(path, labels)
                .map(file -> Labels.read(file).applied(samples))
                .orElse(samples);
    }

    /** The file of labels. */
    public static Optional<Path> labelFile(Path path, Optional<Path> labels) {
        return labels.or(() -> Optional.of(path.resolve(LABELS)).filter(Files::isRegularFile));
    }

    private static List<Sample> samples(Path path, List<Parameter> inputs, OtherSamples others) {
        if (Files.isDirectory(path)) {
            return SampleFolder.read(path, inputs, others);
        }
        String name = String.valueOf(path.getFileName());
        if (!Files.isRegularFile(path) || !(name.endsWith(".npy") || name.endsWith(".npz"))) {
            throw new KilnException(Failure.QUANTIZE.problem(
                    Files.exists(path) ? "this is not a file of samples" : "there are no samples here",
                    path.toString(),
                    "a folder of input_0.bin and so on, of pictures or of recordings, or a file .npy or .npz",
                    "Correct kiln.quantize.samples"));
        }
        try {
            if (Files.size(path) > MAX_BYTES) {
                throw tooLarge(path.toString());
            }
            byte[] content = Files.readAllBytes(path);
            return name.endsWith(".npy")
                    ? ArraySamples.single(
                            path.toString(), NumpyArray.read(Bytes.wrap(content), path.toString()), inputs)
                    : ArraySamples.several(path.toString(), NumpyArchive.read(content, path.toString()), inputs);
        } catch (IOException e) {
            throw FileFailure.of("cannot read", path, e);
        }
    }

    static KilnException tooLarge(String where) {
        return new KilnException(Failure.QUANTIZE.problem(
                "the samples are larger than " + MAX_BYTES / (1 << 20) + " MiB",
                where,
                "100 to 500 samples, which suffice",
                "Choose fewer samples"));
    }

    private static void checkNumbers(Sample sample, Path path, List<Parameter> inputs, Problems problems) {
        for (int i = 0; i < inputs.size(); i++) {
            if (!inputs.get(i).type().dtype().isFloat()) {
                continue;
            }
            int wrong = notFinite(sample.inputs().get(i));
            if (wrong >= 0 && problems.list().size() < MAX_FINDINGS) {
                problems.add(
                        "element " + wrong + " of `" + inputs.get(i).name() + "` is "
                                + sample.inputs().get(i).buffer().getFloat(4 * wrong),
                        path + ": " + sample.name(),
                        "finite numbers",
                        "Correct or remove this sample");
            }
        }
    }

    private static int notFinite(Bytes floats) {
        ByteBuffer buffer = floats.buffer();
        for (int i = 0; i < floats.size() / Float.BYTES; i++) {
            if (!Float.isFinite(buffer.getFloat(Float.BYTES * i))) {
                return i;
            }
        }
        return -1;
    }

    /** Splits concatenated inputs. */
    static List<Bytes> split(byte[] all, List<Parameter> inputs) {
        List<Bytes> parts = new ArrayList<>();
        int at = 0;
        for (Parameter input : inputs) {
            int size = Math.toIntExact(input.type().bytes());
            byte[] part = new byte[size];
            System.arraycopy(all, at, part, 0, size);
            parts.add(Bytes.wrap(part));
            at += size;
        }
        return parts;
    }
}
