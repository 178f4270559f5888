// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.GitLfs;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.base.WholeFiles;
import io.kiln.target.Target;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The cases of a verification: test vectors from a folder, then seeded random ones. In a folder, {@code input_<k>.bin}
 * holds all inputs of case k in model order, concatenated, raw little-endian, and {@code output_<k>.bin} all outputs
 * likewise.
 */
public final class TestCases {
    private static final Pattern INPUT = Pattern.compile("input_(0|[1-9][0-9]{0,8})\\.bin");

    private static final List<Float> SPECIAL = List.of(
            Float.NaN,
            Float.POSITIVE_INFINITY,
            Float.NEGATIVE_INFINITY,
            -0f,
            0f,
            Float.MIN_VALUE,
            -1e-40f,
            Float.MAX_VALUE);

    /** Of so many floats one becomes special, and of so many rows one gets equal elements. */
    private static final int ONE_IN = 12;

    private TestCases() {}

    /**
     * Reads the vectors of a folder, in the order of their numbers.
     *
     * @throws KilnException naming every file whose size is not that of the tensors
     */
    static List<TestCase> vectors(Path folder, List<TensorInfo> inputs, List<TensorInfo> outputs) {
        SortedMap<Integer, Path> files = numbered(folder, INPUT);
        if (files.isEmpty()) {
            throw Failure.VERIFY.exception(
                    "there are no test vectors",
                    folder.toString(),
                    "input_0.bin and so on",
                    "Correct kiln.verify.vectors");
        }
        Problems problems = new Problems(Failure.VERIFY);
        List<TestCase> cases = new ArrayList<>();
        files.forEach((k, file) -> {
            Optional<List<Bytes>> in = read(file, inputs, problems);
            Optional<List<Bytes>> out = output(folder, k).flatMap(each -> read(each, outputs, problems));
            in.ifPresent(bytes -> cases.add(new TestCase("vector_" + k, bytes, out)));
        });
        problems.throwIfAny();
        return cases;
    }

    private static Optional<Path> output(Path folder, int number) {
        return Optional.of(folder.resolve("output_" + number + ".bin")).filter(Files::isRegularFile);
    }

    /** Adds every vector of a folder whose size is not that of the tensors, and reads none. */
    static void checkSizes(Path folder, List<TensorInfo> inputs, List<TensorInfo> outputs, Problems problems) {
        numbered(folder, INPUT).forEach((k, file) -> {
            fits(file, inputs, problems);
            output(folder, k).ifPresent(each -> fits(each, outputs, problems));
        });
    }

    /** Whether a folder has vectors of the models' inputs. */
    static boolean areIn(Path folder) {
        return !numbered(folder, INPUT).isEmpty();
    }

    /**
     * The files of a folder whose whole name matches, by the number in it.
     *
     * @throws KilnException if two have the same number
     */
    static SortedMap<Integer, Path> numbered(Path folder, Pattern name) {
        TreeMap<Integer, Path> files = new TreeMap<>();
        WholeFiles.list(folder).forEach(entry -> {
            Matcher matcher = name.matcher(entry.getFileName().toString());
            if (matcher.matches()) {
                Path other = files.put(Integer.valueOf(matcher.group(1)), entry);
                if (other != null) {
                    throw Failure.VERIFY.exception(
                            other.getFileName() + " and " + entry.getFileName() + " have the same number",
                            folder.toString(),
                            "one file for each number",
                            "Rename one of them");
                }
            }
        });
        return files;
    }

    /** Random cases: integers over their whole range, floats from N(0,1). The same seed gives the same bytes on every computer. */
    static List<TestCase> random(int samples, long seed, List<TensorInfo> inputs) {
        Random random = new Random(seed);
        List<TestCase> cases = new ArrayList<>();
        for (int k = 0; k < samples; k++) {
            List<Bytes> bytes =
                    inputs.stream().map(input -> randomBytes(input, random)).toList();
            cases.add(new TestCase("random_" + k, bytes, Optional.empty()));
        }
        return cases;
    }

    /**
     * The same cases, but every second one has NaN, infinities, -0, denormal floats and rows of equal elements among its floats. The others
     * stay as they are, because one NaN may make all outputs NaN.
     *
     * @param target of the model; vector instructions of cores with MVE count denormal floats as 0, so that these get none
     */
    static List<TestCase> withSpecialFloats(List<TestCase> cases, long seed, List<TensorInfo> inputs, String target) {
        boolean hasMve = Target.parse(target).features().hasMve();
        List<Float> special =
                SPECIAL.stream().filter(value -> !hasMve || !isDenormal(value)).toList();
        Random random = new Random(~seed);
        List<TestCase> all = new ArrayList<>(cases);
        for (int k = 1; k < all.size(); k += 2) {
            List<Bytes> bytes = new ArrayList<>(all.get(k).inputs());
            for (int i = 0; i < bytes.size(); i++) {
                if (inputs.get(i).dtype().isFloat()) {
                    bytes.set(i, withSpecialFloats(bytes.get(i), inputs.get(i), special, random));
                }
            }
            all.set(k, new TestCase(all.get(k).name(), bytes, Optional.empty()));
        }
        return all;
    }

    private static boolean isDenormal(float value) {
        return value != 0 && Math.abs(value) < Float.MIN_NORMAL;
    }

    private static Bytes withSpecialFloats(Bytes floats, TensorInfo tensor, List<Float> special, Random random) {
        ByteBuffer values = ByteBuffer.wrap(floats.toArray()).order(ByteOrder.LITTLE_ENDIAN);
        int row = tensor.shape().isEmpty()
                ? 1
                : Math.max(1, tensor.shape().get(tensor.shape().size() - 1));
        boolean isEqual = false;
        for (int i = 0; i < values.capacity() / Float.BYTES; i++) {
            isEqual = i % row == 0 ? random.nextInt(ONE_IN) == 0 : isEqual;
            if (isEqual && i % row > 0) {
                values.putFloat(Float.BYTES * i, values.getFloat(Float.BYTES * (i - 1)));
            } else if (random.nextInt(ONE_IN) == 0) {
                values.putFloat(Float.BYTES * i, special.get(random.nextInt(special.size())));
            }
        }
        return Bytes.wrap(values.array());
    }

    /** One case with every input at its zero point (float: 0.0). */
    static TestCase zero(List<TensorInfo> inputs) {
        List<Bytes> bytes = inputs.stream()
                .map(input -> {
                    byte[] content = new byte[Math.toIntExact(input.bytes())];
                    if (input.dtype().bytes() == 1) {
                        Arrays.fill(content, (byte) input.zeroPoint());
                    }
                    return Bytes.wrap(content);
                })
                .toList();
        return new TestCase("zero", bytes, Optional.empty());
    }

    private static Bytes randomBytes(TensorInfo tensor, Random random) {
        byte[] content = new byte[Math.toIntExact(tensor.bytes())];
        ByteBuffer buffer = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
        for (long i = 0; i < tensor.elements(); i++) {
            switch (tensor.dtype()) {
                case FLOAT32 -> buffer.putFloat((float) random.nextGaussian());
                case BOOL -> buffer.put((byte) random.nextInt(2));
                case INT8, UINT8 -> buffer.put((byte) random.nextInt());
                case INT16 -> buffer.putShort((short) random.nextInt());
                case INT32, UINT32 -> buffer.putInt(random.nextInt());
                case INT64, UINT64 -> buffer.putLong(random.nextLong());
            }
        }
        return Bytes.wrap(content);
    }

    private static Optional<List<Bytes>> read(Path file, List<TensorInfo> tensors, Problems problems) {
        return fits(file, tensors, problems)
                ? Optional.of(split(WholeFiles.read(file).toArray(), tensors))
                : Optional.empty();
    }

    private static boolean fits(Path file, List<TensorInfo> tensors, Problems problems) {
        Optional<Problem> pointer = GitLfs.pointer(file);
        if (pointer.isPresent()) {
            problems.add(pointer.get());
            return false;
        }
        long wanted = tensors.stream().mapToLong(TensorInfo::bytes).sum();
        try {
            if (Files.size(file) != wanted) {
                problems.add(
                        "has " + Files.size(file) + " bytes",
                        file.toString(),
                        wanted + " bytes: " + describe(tensors),
                        "Correct the test vector");
                return false;
            }
            return true;
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }

    /** Splits concatenated tensors. */
    static List<Bytes> split(byte[] all, List<TensorInfo> tensors) {
        List<Bytes> parts = new ArrayList<>();
        int at = 0;
        for (TensorInfo tensor : tensors) {
            int size = Math.toIntExact(tensor.bytes());
            parts.add(Bytes.wrap(Arrays.copyOfRange(all, at, at + size)));
            at += size;
        }
        return parts;
    }

    private static String describe(List<TensorInfo> tensors) {
        return String.join(
                " then ",
                tensors.stream()
                        .map(t -> t.name() + " " + t.dtype().text() + t.shape())
                        .toList());
    }

    /** Whether any of the tensors holds floats. */
    static boolean anyFloat(List<TensorInfo> tensors) {
        return tensors.stream().map(TensorInfo::dtype).anyMatch(DType::isFloat);
    }

    /**
     * One inference to compare.
     *
     * @param name name in reports
     * @param inputs bytes of every input in model order
     * @param givenOutputs bytes of every output, if the test vector has them
     */
    public record TestCase(String name, List<Bytes> inputs, Optional<List<Bytes>> givenOutputs) {
        public TestCase {
            inputs = List.copyOf(inputs);
        }
    }
}
