// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.frontend.tflite.SeededNet;
import io.kiln.frontend.tflite.SeededNet.Value;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Models of the project's own, of the usual kinds and with drawn weights, for tests that need just a model. What they answer is what
 * the reference interpreter answers; {@link OwnModelTest} holds it against TensorFlow Lite.
 */
public enum OwnModel {
    /** Three dense layers from one int8 to one. */
    SINE(OwnModel::sine),
    /** The sum of two int8 images of 128x128. */
    SUMS(OwnModel::sums),
    /** A depthwise separable network as for keywords: int8, 49x10, 12 classes. */
    KEYWORDS(OwnModel::keywords),
    /** Dense layers down to a few values and up again. */
    CODER(OwnModel::coder),
    /** Convolutions of an image, with a sum around two of them. */
    RESIDUAL(OwnModel::residual),
    /** A depthwise separable network for images of 64x64, most of whose 130,000 weights are read few times. */
    VISION(OwnModel::vision),
    /** An int8 LSTM before a dense layer. */
    RECURRENT(OwnModel::recurrent),
    /** A convolution of int16. */
    WIDE_CONV(OwnModel::wideConv),
    /** A sum of int16. */
    WIDE_SUM(OwnModel::wideSum),
    /** A transposed convolution of int16. */
    WIDE_TRANSPOSED(OwnModel::wideTransposed),
    /** Three dense layers of floats. */
    FLOAT_SINE(OwnModel::floatSine),
    /** Convolutions of floats. */
    FLOAT_IMAGE(OwnModel::floatImage);

    /** How many cases each has: input_0.bin, output_0.bin and so on. */
    public static final int CASES = 3;

    private static final Path FOLDER = folderOfAll();

    @SuppressWarnings("ImmutableEnumChecker") // A method of this class, without state.
    private final Supplier<byte[]> writer;

    OwnModel(Supplier<byte[]> writer) {
        this.writer = writer;
    }

    /** Its name in small letters, which a model in C can have. */
    public String id() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The model file. */
    public synchronized Path model() {
        Path model = FOLDER.resolve(id()).resolve("model.tflite");
        if (!Files.exists(model)) {
            write(model, writer.get());
        }
        return model;
    }

    /** The model file's content. */
    public Bytes file() {
        return GoldenModels.read(model());
    }

    /** For a build, under its own name. */
    public ModelSource source() {
        return new ModelSource(model(), id());
    }

    public Function read() {
        return TfliteFrontend.read(model(), "default");
    }

    /** A folder with the model file and its cases. */
    public synchronized Path folder() {
        Path folder = model().getParent();
        if (!Files.exists(folder.resolve("output_" + (CASES - 1) + ".bin"))) {
            Function function = read();
            for (int k = 0; k < CASES; k++) {
                write(folder.resolve("input_" + k + ".bin"), joined(inputs(function, k)));
                write(folder.resolve("output_" + k + ".bin"), joined(Interpreter.run(function, inputs(function, k))));
            }
        }
        return folder;
    }

    /** The folders of all. */
    public static List<Path> folders() {
        return Stream.of(values()).map(OwnModel::folder).toList();
    }

    /** The inputs of a case, one per parameter. */
    public List<Bytes> inputs(int k) {
        return inputs(read(), k);
    }

    /** The inputs of a case, one behind the other. */
    public Bytes input(int k) {
        return GoldenModels.read(folder().resolve("input_" + k + ".bin"));
    }

    /** The outputs of a case, one behind the other. */
    public Bytes output(int k) {
        return GoldenModels.read(folder().resolve("output_" + k + ".bin"));
    }

    private List<Bytes> inputs(Function function, int k) {
        Random random = new Random(31L * name().hashCode() + k);
        return function.params().stream()
                .map(parameter -> drawn(parameter, k, random))
                .toList();
    }

    private static Bytes drawn(Parameter parameter, int k, Random random) {
        int elements = (int) parameter.type().shape().elements();
        if (parameter.type().dtype().isFloat()) {
            float[] values = new float[elements];
            IntStream.range(0, elements).forEach(i -> values[i] = (float) random.nextGaussian());
            return Constant.vector(values).data();
        }
        byte[] values = new byte[elements * parameter.type().dtype().bytes()];
        random.nextBytes(values);
        if (parameter.type().dtype() == DType.INT8) {
            // Means over images of noise alone are all alike.
            for (int i = 0; i < elements; i++) {
                values[i] = (byte) Math.max(-128, Math.min(127, values[i] / 2 + 50 * (k - 1)));
            }
        }
        return Bytes.wrap(values);
    }

    private static byte[] joined(List<Bytes> parts) {
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        parts.forEach(part -> joined.writeBytes(part.toArray()));
        return joined.toByteArray();
    }

    private static void write(Path file, byte[] content) {
        try {
            Files.createDirectories(file.getParent()).toFile().deleteOnExit();
            Files.write(file, content).toFile().deleteOnExit();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path folderOfAll() {
        try {
            Path folder = Files.createTempDirectory("own-models");
            folder.toFile().deleteOnExit();
            return folder;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] sine() {
        SeededNet net = new SeededNet(1);
        Value x = net.input("x", 0.0245, -128, 1, 1);
        return net.build(net.dense(net.dense(net.dense(x, 16, true), 16, true), 1, false), x);
    }

    private static byte[] floatSine() {
        SeededNet net = new SeededNet(1);
        Value x = net.floatInput("x", 1, 1);
        return net.build(net.dense(net.dense(net.dense(x, 16, true), 16, true), 1, false), x);
    }

    private static byte[] sums() {
        SeededNet net = new SeededNet(2);
        Value a = net.input("a", 0.0407, -2, 1, 128, 128, 1);
        Value b = net.input("b", 0.0412, -1, 1, 128, 128, 1);
        return net.build(net.sum(a, b), a, b);
    }

    private static byte[] keywords() {
        SeededNet net = new SeededNet(3);
        Value x = net.input("input_1", 0.58, 83, 1, 49, 10, 1);
        Value value = net.conv(x, 64, 10, 4, 2, true);
        for (int i = 0; i < 4; i++) {
            value = net.conv(net.depthwise(value, 1), 64, 1, 1, 1, true);
        }
        return net.build(classes(net, value, 12), x);
    }

    private static Value classes(SeededNet net, Value value, int count) {
        return net.classify(net.flatten(net.averagePool(value)), count);
    }

    private static byte[] coder() {
        SeededNet net = new SeededNet(4);
        Value x = net.input("spectrum", 0.4, 90, 1, 320);
        Value value = net.dense(net.dense(net.dense(net.dense(x, 64, true), 64, true), 8, true), 64, true);
        return net.build(net.dense(value, 320, false), x);
    }

    private static byte[] residual() {
        SeededNet net = new SeededNet(5);
        Value x = net.input("image", 0.0078, -1, 1, 16, 16, 3);
        Value first = net.conv(x, 16, 3, 3, 1, true);
        Value sum = net.sum(net.conv(net.conv(first, 16, 3, 3, 1, true), 16, 3, 3, 1, false), first);
        Value second = net.conv(net.conv(sum, 32, 3, 3, 2, true), 32, 3, 3, 1, false);
        return net.build(classes(net, net.sum(second, net.conv(sum, 32, 1, 1, 2, false)), 10), x);
    }

    private static byte[] vision() {
        SeededNet net = new SeededNet(6);
        Value x = net.input("image", 0.0039, -128, 1, 64, 64, 3);
        Value value = net.conv(x, 8, 3, 3, 2, true);
        int[] channels = {16, 32, 32, 64, 64, 128, 128, 256, 256};
        for (int i = 0; i < channels.length; i++) {
            value = net.conv(net.depthwise(value, i % 2 == 1 || i == 8 ? 2 : 1), channels[i], 1, 1, 1, true);
        }
        return net.build(classes(net, value, 2), x);
    }

    private static byte[] recurrent() {
        SeededNet net = new SeededNet(7);
        Value x = net.input("rows", 0.0039, -128, 1, 14, 14);
        return net.build(net.classify(net.flatten(net.lstm(x, 12)), 10), x);
    }

    private static byte[] wideConv() {
        SeededNet net = new SeededNet(8);
        Value x = net.wideInput("frames", 0.0009, 1, 8, 30, 2);
        return net.build(net.conv(x, 8, 7, 7, 1, false), x);
    }

    private static byte[] wideSum() {
        SeededNet net = new SeededNet(9);
        Value a = net.wideInput("a", 0.0009, 1, 1, 5, 64);
        Value b = net.wideInput("b", 0.0007, 1, 1, 5, 64);
        return net.build(net.sum(a, b), a, b);
    }

    private static byte[] wideTransposed() {
        SeededNet net = new SeededNet(10);
        Value x = net.wideInput("frames", 0.0009, 1, 3, 5, 16);
        return net.build(net.transposeConv(x, 8), x);
    }

    private static byte[] floatImage() {
        SeededNet net = new SeededNet(11);
        Value x = net.floatInput("image", 1, 12, 12, 3);
        Value value = net.depthwise(net.conv(x, 8, 3, 3, 2, true), 1);
        return net.build(classes(net, net.sum(net.conv(value, 8, 1, 1, 1, false), value), 4), x);
    }
}
