// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.app;

import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.ParameterValue;
import io.kiln.base.Problems;
import io.kiln.base.ResourceTree;
import io.kiln.firmware.app.MlperfOptions.Benchmark;
import io.kiln.toolchain.board.Board;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The application of an image whose project has no {@code main.c}: C files that use the board's {@code kiln_console.h}
 * and the models' {@code tvmgen_<name>.h}. Its protocol is described in {@code kiln_app.h}.
 */
public final class DefaultApplication {
    /** Largest number of models in one image. */
    public static final int MAX_MODELS = 255;

    private DefaultApplication() {}

    /**
     * All files of the application for these models.
     *
     * @param models 1 to {@link #MAX_MODELS}, in the order of the host's model numbers
     * @return sources and headers by file name
     */
    public static SortedMap<String, Bytes> files(List<ModelMetadata> models) {
        return files(models, Set.of());
    }

    /** All files of the application for compiled models, with audio where signal processing is among their files. */
    public static SortedMap<String, Bytes> running(List<ModelLibrary> models) {
        return files(
                models.stream().map(ModelLibrary::metadata).toList(),
                models.stream()
                        .filter(ModelLibrary::hears)
                        .map(model -> model.metadata().name())
                        .collect(Collectors.toUnmodifiableSet()));
    }

    /**
     * All files of the application for these models, some of which take audio too: behind the models, in the table, each of those stands once
     * more as {@link InterfaceNames#audio}, whose input are samples of 16 bits.
     *
     * @param hearing names of the models with signal processing before them
     */
    static SortedMap<String, Bytes> files(List<ModelMetadata> models, Set<String> hearing) {
        int count = models.size() + hearing.size();
        if (models.isEmpty() || count > MAX_MODELS) {
            throw Failure.CONFIG.exception("the application has " + count + " models", "", "1 to " + MAX_MODELS);
        }
        TreeMap<String, Bytes> files = new TreeMap<>(ResourceTree.read("templates/app"));
        files.put("kiln_app_models.c", Bytes.ofText(ModelTable.print(models, hearing)));
        return files;
    }

    /**
     * All files of the application that a runner of MLPerf Tiny measures.
     *
     * @param hasMain whether the project has a main of its own, which calls the model by {@code kiln_th.h}
     * @throws KilnException if it cannot measure these models on this board
     */
    public static SortedMap<String, Bytes> measured(
            List<ModelLibrary> models, Board board, MlperfOptions options, boolean hasMain) {
        return MlperfTiny.files(models, board, options, hasMain);
    }

    /** All files of the RPC server's application, which takes its models from their system library. */
    public static SortedMap<String, Bytes> server() {
        return ResourceTree.read("templates/rpc");
    }

    /** The application that speaks the serial protocol of MLPerf Tiny; {@code kiln_mlperf.h} describes its parts. */
    private static final class MlperfTiny {
        /** Header of a board with a pin for a measuring device. */
        private static final String PIN = "kiln_pin.h";

        private static final float CLASS_SCALE = 1 / 256f;

        private static final String STREAM = "kiln_mlperf_stream.c";

        /** What a project with a main of its own has, and what it has not. */
        private static final Set<String> INTERFACE = Set.of("kiln_th.h", "kiln_th.c");

        private static final Set<String> PROGRAM = Set.of("main.c", "kiln_mlperf_protocol.c");

        private final List<ModelLibrary> libraries;
        private final List<ModelMetadata> models;
        private final Board board;
        private final MlperfOptions options;
        private final boolean hasMain;
        private final Problems problems = new Problems(Failure.CONFIG);

        private MlperfTiny(List<ModelLibrary> libraries, Board board, MlperfOptions options, boolean hasMain) {
            this.libraries = libraries;
            this.models = libraries.stream().map(ModelLibrary::metadata).toList();
            this.board = board;
            this.options = options;
            this.hasMain = hasMain;
        }

        /**
         * All files of the application; in a project with a main of its own those of the benchmark's interface, {@code kiln_th.h}.
         *
         * @throws io.kiln.base.KilnException if models or board are none that it can measure
         */
        static SortedMap<String, Bytes> files(
                List<ModelLibrary> models, Board board, MlperfOptions options, boolean hasMain) {
            MlperfTiny application = new MlperfTiny(models, board, options, hasMain);
            application.checkBoard();
            Optional<Benchmark> benchmark = application.checkedModel();
            application.problems.throwIfAny();
            return application.print(benchmark.orElseThrow());
        }

        private SortedMap<String, Bytes> print(Benchmark benchmark) {
            ModelMetadata model = models.get(0);
            SortedMap<String, Bytes> files = new TreeMap<>(ResourceTree.read("templates/mlperf"));
            files.keySet().removeAll(hasMain ? PROGRAM : INTERFACE);
            if (!benchmark.listens()) {
                files.remove(STREAM);
            }
            files.put("kiln_app.h", ResourceTree.read("templates/app").get("kiln_app.h"));
            files.put("kiln_app_models.c", Bytes.ofText(ModelTable.print(models, Set.of())));
            String header = new MlperfModel(
                            benchmark, model.inputs().get(0), model.outputs().get(0))
                    .print(options.mode(), new InterfaceNames(model.name()));
            files.put("kiln_mlperf_model.h", Bytes.ofText(header));
            files.put(
                    "kiln_mlperf_names.c",
                    Bytes.ofText("/* SPDX-License-Identifier: Apache-2.0 */\n#include \"kiln_mlperf.h\"\n\n"
                            + "const char kiln_mlperf_vendor[] = \""
                            + options.vendor().orElse(board.id()) + "\";\n"
                            + "const char kiln_mlperf_benchmark[] = \"" + benchmark.id() + "\";\n"));
            return files;
        }

        private void checkBoard() {
            if (options.mode() == MlperfOptions.Mode.ENERGY) {
                if (!board.files().containsKey(PIN)) {
                    problems.add(
                            "board " + board.id() + " has no pin by which energy is measured",
                            "kiln.mlperf.mode",
                            "a board with " + PIN + ", or performance",
                            "Write " + PIN + " in the board's folder");
                }
            } else if (board.timer().isEmpty()) {
                problems.add(
                        "board " + board.id() + " has no timer by which performance is measured",
                        "kiln.application",
                        "the key timer in its board.yaml, and kiln_counter.h");
            }
        }

        /** The benchmark of the only model; empty if there is a problem. */
        private Optional<Benchmark> checkedModel() {
            if (models.size() != 1
                    || models.get(0).inputs().size() != 1
                    || models.get(0).outputs().size() != 1) {
                problems.add(
                        "a runner of MLPerf Tiny measures one model with one input and one output",
                        "kiln.application",
                        "one such model");
                return Optional.empty();
            }
            ModelMetadata model = models.get(0);
            if (model.io() != Io.CALLER) {
                problems.add(
                        "the model's input shares memory with other tensors, and a second inference would not find it",
                        "kiln.io",
                        "caller",
                        "Leave kiln.io out");
            }
            return benchmark(model).filter(found -> found.listens() ? isHearing(model) : isPossible(found, model));
        }

        private Optional<Benchmark> benchmark(ModelMetadata model) {
            long inputs = model.inputs().get(0).elements();
            long outputs = model.outputs().get(0).elements();
            Optional<Benchmark> fitting = options.benchmark()
                    .or(() -> Arrays.stream(Benchmark.values())
                            .filter(each -> each != Benchmark.CUSTOM && each.fits(inputs, outputs))
                            .findFirst())
                    .filter(each -> each.fits(inputs, outputs));
            if (fitting.isEmpty()) {
                problems.add(
                        "the model has " + inputs + " elements of input and " + outputs + " of output",
                        "kiln.mlperf.benchmark",
                        Arrays.stream(Benchmark.values())
                                .filter(each -> each != Benchmark.CUSTOM)
                                .map(each -> each.id() + " with " + each.inputs() + " and " + each.outputs())
                                .collect(Collectors.joining(", ")),
                        "Set kiln.mlperf.benchmark to custom, for a model that is none of them");
            }
            return fitting;
        }

        /** Whether the only model hears sound. */
        private boolean isHearing(ModelMetadata model) {
            if (hasMain) {
                problems.add(
                        "the project has a main of its own, and the streaming benchmark has no interface for it",
                        "kiln.application",
                        "another benchmark, or no main",
                        "Remove main from src/main/c");
            }
            TensorInfo output = model.outputs().get(0);
            if (!libraries.get(0).hears()) {
                problems.add(
                        "the model hears no sound: nothing makes features of it",
                        "kiln.preprocess",
                        "a description of the features, such as the manual has for " + Benchmark.SWW01.id(),
                        "Write it beside the model, or set kiln.mlperf.benchmark to custom");
            } else if (model.inputs().get(0).dtype() != DType.INT8
                    || output.dtype() != DType.INT8
                    || output.scale() != CLASS_SCALE
                    || output.zeroPoint() != Byte.MIN_VALUE) {
                problems.add(
                        "the model takes " + model.inputs().get(0).dtype().text() + " and answers "
                                + output.dtype().text() + " with the scale " + output.scale() + " and the zero point "
                                + output.zeroPoint(),
                        "kiln.application",
                        "int8, and as an answer with the scale 1/256 and the zero point -128, as probabilities have it",
                        "Quantize the model");
            }
            return problems.isEmpty();
        }

        private boolean isPossible(Benchmark benchmark, ModelMetadata model) {
            TensorInfo input = model.inputs().get(0);
            TensorInfo output = model.outputs().get(0);
            boolean isInputKnown = benchmark == Benchmark.CUSTOM || MlperfModel.isKnown(input);
            boolean isOutputKnown =
                    MlperfModel.isKnown(output) && (benchmark.findsAnomalies() || output.dtype() != DType.INT16);
            if (!isInputKnown || !isOutputKnown) {
                problems.add(
                        "the model's " + (isInputKnown ? "output" : "input") + " is "
                                + (isInputKnown ? output : input).dtype().text()
                                + " with a scale that is unknown here",
                        "kiln.application",
                        "float32, or quantized int8, uint8 or, as an input, int16",
                        "Build from the model's file rather than from an archive");
                return false;
            }
            return true;
        }

        /**
         * Prints {@code kiln_mlperf_model.h}: how what a runner sends becomes the model's input, and how its output becomes results. Conversions of
         * single bytes are computed here, so that the image needs no arithmetic of floats for them.
         */
        private static final class MlperfModel {
            private static final int BYTES = 256;
            private static final int VALUES_IN_LINE = 16;

            /** Bytes of a chunk of samples, 32 ms of them. */
            private static final int CHUNK = 1024;

            private final Benchmark benchmark;
            private final TensorInfo input;
            private final TensorInfo output;
            private final StringBuilder out = new StringBuilder();

            /** The tensors of a model that {@link #isKnown}. */
            MlperfModel(Benchmark benchmark, TensorInfo input, TensorInfo output) {
                this.benchmark = benchmark;
                this.input = input;
                this.output = output;
            }

            /** Whether a tensor's numbers have a meaning that is known here. */
            static boolean isKnown(TensorInfo tensor) {
                return tensor.dtype().isFloat() || (bits(tensor.dtype()) > 0 && tensor.scale() > 0);
            }

            /** The header for an image in a mode, whose model has a name. */
            String print(MlperfOptions.Mode mode, InterfaceNames names) {
                line("/* SPDX-License-Identifier: Apache-2.0");
                line(" * Made by Kiln for the model in this image; this file is yours to use without conditions.");
                line(" */");
                line("#ifndef KILN_MLPERF_MODEL_H_");
                line("#define KILN_MLPERF_MODEL_H_");
                line("");
                line("#include <stdint.h>");
                line("");
                if (mode == MlperfOptions.Mode.ENERGY) {
                    line("#define KILN_MLPERF_ENERGY");
                }
                if (benchmark.listens()) {
                    stream(names);
                } else {
                    loaded();
                    results();
                }
                line("");
                line("#endif");
                return out.toString();
            }

            private void stream(InterfaceNames names) {
                define("STREAM", "");
                define("BYTES", CHUNK + "u");
                define("ELEMENT", "1u");
                define("RESULTS", output.elements() + "u");
                line("");
                line("#ifdef KILN_MLPERF_TABLES");
                line("#include \"" + names.preprocessHeader() + "\"");
                define("STATE", "struct " + names.preprocess());
                define("CALL(name)", names.preprocess() + "_##name");
                define("AUDIO(name)", names.macro("preprocess") + "_##name");
                line("#endif");
            }

            private void loaded() {
                boolean isRaw = benchmark == Benchmark.CUSTOM;
                DType type = isRaw ? DType.UINT8 : benchmark.type();
                define("BYTES", (isRaw ? input.bytes() : (long) benchmark.inputs() * type.bytes()) + "u");
                define("ELEMENT", type.bytes() + "u");
                if (isRaw || (type.isFloat() && input.dtype().isFloat())) {
                    define("MASK", "0u");
                } else if (type.isFloat()) {
                    define("INPUT", input.dtype().cName());
                    define("SCALE", input.scale() + "f");
                    define("ZERO", "(" + input.zeroPoint() + ")");
                    define("LEAST", "(" + least(input.dtype()) + ")");
                    define("MOST", String.valueOf(most(input.dtype())));
                } else {
                    map();
                }
            }

            /** The model's input for every byte that may come: often the same byte but for its highest bit, which needs no table. */
            private void map() {
                byte[] map = new byte[BYTES * input.dtype().bytes()];
                ByteBuffer bytes = ByteBuffer.wrap(map).order(ByteOrder.LITTLE_ENDIAN);
                for (int sent = 0; sent < BYTES; sent++) {
                    float real = benchmark.real(benchmark.type() == DType.INT8 ? (byte) sent : sent);
                    switch (input.dtype()) {
                        case FLOAT32 -> bytes.putFloat(real);
                        case INT16 -> bytes.putShort((short) quantized(real));
                        default -> bytes.put((byte) quantized(real));
                    }
                }
                for (int mask : new int[] {0, 1 << 7}) {
                    if (map.length == BYTES
                            && IntStream.range(0, BYTES).allMatch(sent -> (byte) (sent ^ mask) == map[sent])) {
                        define("MASK", mask + "u");
                        return;
                    }
                }
                define("MAP", input.dtype().bytes() + "u");
                table(
                        "uint8_t kiln_mlperf_map[" + map.length + "]",
                        IntStream.range(0, map.length).map(i -> map[i] & 0xFF));
            }

            private int quantized(float real) {
                float steps = real / input.scale();
                int rounded = (int) Math.copySign(Math.floor(Math.abs(steps) + 0.5), steps);
                return Math.max(least(input.dtype()), Math.min(most(input.dtype()), rounded + input.zeroPoint()));
            }

            private void results() {
                define("RESULTS", (benchmark.findsAnomalies() ? 1 : output.elements()) + "u");
                boolean isFloat = output.dtype().isFloat();
                if (benchmark.findsAnomalies()) {
                    define("OUTPUT", output.dtype().cName());
                    define("OUT_SCALE", (isFloat ? 1f : output.scale()) + "f");
                    define("OUT_ZERO", (isFloat ? 0 : output.zeroPoint()) + ".0f");
                } else if (!isFloat) {
                    thousandths();
                }
            }

            /** What each value of 8 bits means, rounded as C's printf rounds with three decimals. */
            private void thousandths() {
                int first = least(output.dtype());
                int[] values = IntStream.range(first, first + BYTES)
                        .map(value -> new BigDecimal(output.scale() * (value - output.zeroPoint()))
                                .movePointRight(3)
                                .setScale(0, RoundingMode.HALF_EVEN)
                                .intValue())
                        .toArray();
                boolean isShort = Arrays.stream(values).allMatch(value -> (short) value == value);
                define("FIRST", "(" + first + ")");
                table(
                        (isShort ? "int16_t" : "int32_t") + " kiln_mlperf_thousandths[" + BYTES + "]",
                        Arrays.stream(values));
            }

            private void table(String declared, IntStream values) {
                int[] all = values.toArray();
                line("");
                line("#ifdef KILN_MLPERF_TABLES");
                line("static const " + declared + " = {");
                for (int from = 0; from < all.length; from += VALUES_IN_LINE) {
                    line(Arrays.stream(all, from, from + VALUES_IN_LINE)
                            .mapToObj(value -> " " + value + ",")
                            .collect(Collectors.joining("", "   ", "")));
                }
                line("};");
                line("#endif");
                line("");
            }

            private void define(String name, String value) {
                line(String.format(Locale.ROOT, "#define KILN_MLPERF_%s %s", name, value)
                        .stripTrailing());
            }

            private void line(String text) {
                out.append(text).append('\n');
            }

            private static int bits(DType type) {
                return switch (type) {
                    case INT8, UINT8 -> 8;
                    case INT16 -> 16;
                    default -> 0;
                };
            }

            private static int least(DType type) {
                return type == DType.UINT8 ? 0 : -(1 << (bits(type) - 1));
            }

            private static int most(DType type) {
                return least(type) + (1 << bits(type)) - 1;
            }
        }
    }

    /** The application of an image whose project has no {@code main} of its own: {@code kiln.application}. */
    public enum Application {
        /** The default application: a host runs whole models over the console. */
        CONSOLE,

        /** microTVM's RPC server on the console: a host calls single functions. For the bench. */
        RPC,

        /** The serial protocol of the benchmark MLPerf Tiny on the console: a runner measures one model. */
        MLPERF_TINY;

        /** The parameter's value. */
        public String text() {
            return ParameterValue.text(this);
        }
    }
}
