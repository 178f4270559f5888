// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The golden models beside the project: real models and what the reference kernels answer for them. */
public final class GoldenModels {
    /** Integer models; answers must match bit for bit. */
    public static final List<String> INTEGER = List.of(
            "hello_world_int8",
            "kws_ref_model",
            "vww_96_int8",
            "pretrainedResnet_quant",
            "ad01_int8",
            "str_ww_ref_model",
            "micro_speech_quantized",
            "person_detect",
            "micro_kws_m",
            "micro_kws_xs",
            "simple_add_model",
            "trained_lstm_int8",
            "keyword_scrambled");

    /** Integer models of one operator each. */
    public static final List<String> SINGLE_OPERATORS = Stream.of(
                    numbered("seanet_pad", 0, 18),
                    numbered("seanet_strided_slice", 0, 32),
                    numbered("seanet_add", 0, 16),
                    numbered("seanet_sub", 0, 4),
                    numbered("seanet_leaky_relu", 0, 22),
                    Stream.of("seanet_quantize0"),
                    numbered("seanet_conv", 0, 20),
                    numbered("seanet_transpose_conv", 0, 4))
            .flatMap(names -> names)
            .toList();

    /** Models with float results. */
    public static final List<String> FLOAT =
            List.of("hello_world_float", "ad01_fp32", "pretrainedResnet", "vww_96_float", "model_ToyCar_quant_fullint");

    private static final String NAME = "golden";

    private GoldenModels() {}

    /** Names that end in even numbers, the last included. */
    private static Stream<String> numbered(String name, int first, int last) {
        return IntStream.rangeClosed(first / 2, last / 2).mapToObj(i -> name + 2 * i);
    }

    /** A model's folder; the test has to say that it needs the golden models, see {@link NeedsShared}. */
    public static Path folder(String model) {
        return SharedFolder.need(NAME).resolve(model);
    }

    public static Path model(String model) {
        return folder(model).resolve("model.tflite");
    }

    /** All models that have answers. */
    public static List<String> all() {
        return share(0, 1);
    }

    /**
     * All models that have answers, or a share of them, at least one.
     *
     * @param share which of {@code shares} equal parts; all models if the property {@code kiln.golden} is {@code all}
     */
    public static List<String> share(int share, int shares) {
        List<String> all = answered(SharedFolder.need(NAME));
        boolean whole = System.getProperty("kiln.golden", "").equals("all");
        List<String> models = IntStream.range(0, all.size())
                .filter(i -> whole || i % shares == share)
                .mapToObj(all::get)
                .toList();
        assertThat(models).as("models with answers in " + folder("")).isNotEmpty();
        return models;
    }

    private static List<String> answered(Path root) {
        try (Stream<Path> folders = Files.list(root)) {
            return folders.filter(f -> Files.exists(f.resolve("output_0.bin")))
                    .map(f -> f.getFileName().toString())
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Files of models that are no larger, none if the golden models are not there. */
    public static Stream<Bytes> small(int bytes) {
        return SharedFolder.find(NAME).stream()
                .flatMap(root -> answered(root).stream()
                        .map(name -> read(root.resolve(name).resolve("model.tflite"))))
                .filter(file -> file.size() <= bytes);
    }

    /**
     * Whether answers are the expected ones: every output equal or, if it is of floats, within 1e-5 + 1e-4 |expected|.
     *
     * @param outputs types of the outputs that lie one behind the other; again and again for several cases
     */
    public static boolean agree(Bytes expected, Bytes actual, List<TensorType> outputs) {
        if (expected.size() != actual.size()) {
            return false;
        }
        long at = 0;
        while (at < expected.size()) {
            for (TensorType output : outputs) {
                if (!agree(slice(expected, at, output.bytes()), slice(actual, at, output.bytes()), output.dtype())) {
                    return false;
                }
                at += output.bytes();
            }
        }
        return true;
    }

    private static Bytes slice(Bytes bytes, long from, long size) {
        byte[] slice = new byte[(int) size];
        bytes.buffer().get((int) from, slice);
        return Bytes.wrap(slice);
    }

    private static boolean agree(Bytes expected, Bytes actual, DType dtype) {
        if (!dtype.isFloat()) {
            return expected.equals(actual);
        }
        for (int i = 0; i < expected.size(); i += Float.BYTES) {
            float e = expected.buffer().getFloat(i);
            float a = actual.buffer().getFloat(i);
            if (Float.compare(a, e) != 0 && !(Float.isFinite(e) && Math.abs(a - e) <= 1e-5f + 1e-4f * Math.abs(e))) {
                return false;
            }
        }
        return true;
    }

    /** Types of a model's outputs. */
    public static List<TensorType> outputs(ModelMetadata model) {
        return model.outputs().stream()
                .map(output -> new TensorType(new Shape(output.shape()), output.dtype()))
                .toList();
    }

    /** Types of a function's results. */
    public static List<TensorType> outputs(Function function) {
        return function.results().stream()
                .map(result -> function.types().get(result.id()))
                .toList();
    }

    /** Numbers of the cases that have an answer. */
    public static List<Integer> cases(String model) {
        List<Integer> cases = new ArrayList<>();
        for (int k = 0; Files.exists(folder(model).resolve("output_" + k + ".bin")); k++) {
            cases.add(k);
        }
        return cases;
    }

    /** The inputs of a case, one per parameter. */
    public static List<Bytes> inputs(String model, Function function, int k) {
        byte[] all = read(folder(model).resolve("input_" + k + ".bin")).toArray();
        List<Bytes> inputs = new ArrayList<>();
        int at = 0;
        for (Parameter parameter : function.params()) {
            int size = (int) parameter.type().bytes();
            inputs.add(Bytes.wrap(Arrays.copyOfRange(all, at, at + size)));
            at += size;
        }
        return inputs;
    }

    /** The inputs of a case, concatenated. */
    public static Bytes input(String model, int k) {
        return read(folder(model).resolve("input_" + k + ".bin"));
    }

    /** The outputs of a case, concatenated. */
    public static Bytes output(String model, int k) {
        return read(folder(model).resolve("output_" + k + ".bin"));
    }

    /** Files of single operators' outputs in case 1. */
    public static List<Path> layers(String model) {
        Path layers = folder(model).resolve("layers_1");
        if (!Files.isDirectory(layers)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(layers)) {
            return files.sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static Bytes read(Path file) {
        try {
            return Bytes.wrap(Files.readAllBytes(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
