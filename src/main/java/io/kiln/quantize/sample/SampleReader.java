// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.sample;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.GitLfs;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.ir.Parameter;
import io.kiln.quantize.sample.ArraySamples.NumpyArray;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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
    private static final Pattern INPUT = Pattern.compile("input_(0|[1-9][0-9]{0,8})\\.bin");

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
            throw Failure.QUANTIZE.exception(
                    "there are no samples",
                    path.toString(),
                    "input_0.bin and so on, pictures or recordings, or an array with at least one sample",
                    "Correct kiln.quantize.samples");
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

    public static Optional<Path> labelFile(Path path, Optional<Path> labels) {
        return labels.or(() -> Optional.of(path.resolve(LABELS)).filter(Files::isRegularFile));
    }

    private static List<Sample> samples(Path path, List<Parameter> inputs, OtherSamples others) {
        if (Files.isDirectory(path)) {
            return folder(path, inputs, others);
        }
        String name = String.valueOf(path.getFileName());
        if (!Files.isRegularFile(path) || !(name.endsWith(".npy") || name.endsWith(".npz"))) {
            throw Failure.QUANTIZE.exception(
                    Files.exists(path) ? "this is not a file of samples" : "there are no samples here",
                    path.toString(),
                    "a folder of input_0.bin and so on, of pictures or of recordings, or a file .npy or .npz",
                    "Correct kiln.quantize.samples");
        }
        try {
            if (Files.size(path) > MAX_BYTES) {
                throw tooLarge(path.toString());
            }
            byte[] content = Files.readAllBytes(path);
            return name.endsWith(".npy")
                    ? ArraySamples.single(
                            path.toString(), NumpyArray.read(Bytes.wrap(content), path.toString()), inputs)
                    : ArraySamples.several(path.toString(), ArraySamples.archive(content, path.toString()), inputs);
        } catch (IOException e) {
            throw FileFailure.of("cannot read", path, e);
        }
    }

    static KilnException tooLarge(String where) {
        return Failure.QUANTIZE.exception(
                "the samples are larger than " + MAX_BYTES / (1 << 20) + " MiB",
                where,
                "100 to 500 samples, which suffice",
                "Choose fewer samples");
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

    /**
     * Samples as files: {@code input_<k>.bin} holds all inputs of sample k in model order, concatenated, raw little-endian. Samples are in the order of their
     * numbers.
     */
    private static List<Sample> folder(Path folder, List<Parameter> inputs, OtherSamples others) {
        TreeMap<Integer, Path> files = new TreeMap<>();
        try (Stream<Path> entries = Files.list(folder)) {
            entries.forEach(entry -> {
                Matcher matcher = INPUT.matcher(entry.getFileName().toString());
                if (matcher.matches()) {
                    files.put(Integer.valueOf(matcher.group(1)), entry);
                }
            });
        } catch (IOException e) {
            throw FileFailure.of("cannot list", folder, e);
        }
        if (files.isEmpty()) {
            return others.read(folder, inputs);
        }
        if (Files.isRegularFile(folder.resolve(OtherSamples.FORMS))) {
            throw Failure.SAMPLES.exception(
                    "the folder has " + OtherSamples.FORMS + ", for pictures and recordings, and "
                            + files.firstEntry().getValue().getFileName(),
                    folder.toString(),
                    "one kind of samples",
                    "Delete one of them");
        }
        long wanted = inputs.stream().mapToLong(input -> input.type().bytes()).sum();
        if (files.size() > SampleReader.MAX_SAMPLES || wanted * files.size() > SampleReader.MAX_BYTES) {
            throw SampleReader.tooLarge(folder.toString());
        }
        Problems problems = new Problems(Failure.QUANTIZE);
        List<Sample> samples = new ArrayList<>();
        for (Path file : files.values()) {
            if (problems.list().size() == MAX_FINDINGS) {
                break;
            }
            sample(file, wanted, inputs, problems).ifPresent(samples::add);
        }
        problems.throwIfAny();
        return samples;
    }

    private static Optional<Sample> sample(Path file, long wanted, List<Parameter> inputs, Problems problems) {
        Optional<Problem> pointer = GitLfs.pointer(file);
        if (pointer.isPresent()) {
            problems.add(pointer.get());
            return Optional.empty();
        }
        try {
            if (Files.size(file) != wanted) {
                problems.add(
                        "the sample has " + Files.size(file) + " bytes",
                        file.toString(),
                        wanted + " bytes: "
                                + inputs.stream()
                                        .map(i ->
                                                "`" + i.name() + "` " + i.type().text())
                                        .collect(Collectors.joining(", then ")),
                        "Write every input in this shape, as raw little-endian numbers");
                return Optional.empty();
            }
            return Optional.of(
                    new Sample(file.getFileName().toString(), SampleReader.split(Files.readAllBytes(file), inputs)));
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }

    /**
     * Samples that are not tensors yet, such as pictures and recordings. What reads them belongs to the programs around the compiler, because it
     * knows descriptions and signal processing.
     */
    @FunctionalInterface
    public interface OtherSamples {
        /** The file in a folder which says that, and how, its pictures and recordings are samples. */
        String FORMS = "samples.yaml";

        /** There are none. */
        OtherSamples NONE = (folder, inputs) -> List.of();

        /**
         * Reads the samples of a folder.
         *
         * @param folder without {@code input_<k>.bin}, or one that says that it has other samples
         * @param inputs the model's inputs
         * @return empty if the folder has none
         * @throws io.kiln.base.KilnException if they cannot be used
         */
        List<Sample> read(Path folder, List<Parameter> inputs);
    }

    /**
     * Labels of samples: lines {@code sample,label}, where the sample is its number or its file's name, and the label the
     * index of its class. A first line of other words is a heading.
     *
     * @param file for messages
     * @param bySample the label by the number of the sample, or by the name of its file if it is a picture or a recording
     */
    private record Labels(Path file, Map<String, Integer> bySample) {
        private static final Pattern LINE = Pattern.compile("\\s*(.+?)\\s*[,;]\\s*([0-9]{1,9})\\s*");
        private static final Pattern NUMBERED = Pattern.compile("(?:input_|sample )?([0-9]{1,9})(?:\\.bin)?");
        private static final int MAX_FINDINGS = 10;
        private static final long MAX_BYTES = 1L << 24;

        /**
         * Reads a file.
         *
         * @throws KilnException with its first wrong lines
         */
        static Labels read(Path file) {
            List<String> lines = lines(file);
            Problems problems = new Problems(Failure.QUANTIZE);
            Map<String, Integer> labels = new LinkedHashMap<>();
            for (int i = 0; i < lines.size() && problems.list().size() < MAX_FINDINGS; i++) {
                Matcher matcher = LINE.matcher(lines.get(i));
                boolean isHeading = i == 0 && !lines.get(i).matches(".*[0-9].*");
                if (lines.get(i).isBlank() || isHeading) {
                    continue;
                }
                if (!matcher.matches()) {
                    problems.add("the line is `" + lines.get(i) + "`", file + ":" + (i + 1), "sample,label", "");
                } else if (labels.put(key(matcher.group(1)), Integer.valueOf(matcher.group(2))) != null) {
                    problems.add(
                            "sample " + matcher.group(1) + " has two labels", file + ":" + (i + 1), "one each", "");
                }
            }
            problems.throwIfAny();
            return new Labels(file, labels);
        }

        private static List<String> lines(Path file) {
            try {
                if (Files.size(file) > MAX_BYTES) {
                    throw Failure.QUANTIZE.exception(
                            "the file of labels is too large", file.toString(), "a line for each sample", "");
                }
                return Files.readAllLines(file);
            } catch (CharacterCodingException e) {
                throw Failure.QUANTIZE.exception("the labels are not text", file.toString(), "lines in UTF-8", "");
            } catch (IOException e) {
                throw FileFailure.of("cannot read", file, e);
            }
        }

        /**
         * The samples with their labels.
         *
         * @throws KilnException unless every sample has one, and every label a sample
         */
        List<Sample> applied(List<Sample> samples) {
            List<Sample> labelled = new ArrayList<>();
            Map<String, Integer> left = new LinkedHashMap<>(bySample);
            List<String> missing = new ArrayList<>();
            for (Sample sample : samples) {
                Integer label = left.remove(key(sample.name()));
                if (label == null) {
                    missing.add(sample.name());
                } else {
                    labelled.add(sample.labelled(label));
                }
            }
            Problems problems = new Problems(Failure.QUANTIZE);
            if (!missing.isEmpty()) {
                problems.add(
                        missing.size() + " samples have no label, the first is " + missing.get(0),
                        file.toString(),
                        "a line sample,label for each",
                        "Add the labels, or name no file");
            }
            if (!left.isEmpty()) {
                problems.add(
                        left.size() + " labels have no sample, the first is that of "
                                + left.keySet().iterator().next(),
                        file.toString(),
                        "numbers of samples, or the names of their files",
                        "Correct the numbers");
            }
            problems.throwIfAny();
            return labelled;
        }

        private static String key(String sample) {
            Matcher matcher = NUMBERED.matcher(sample);
            return matcher.matches() ? Integer.valueOf(matcher.group(1)).toString() : sample;
        }
    }
}
