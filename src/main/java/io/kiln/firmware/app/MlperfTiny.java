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
import io.kiln.base.Problems;
import io.kiln.base.ResourceTree;
import io.kiln.toolchain.board.Board;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The application that speaks the serial protocol of MLPerf Tiny; {@code kiln_mlperf.h} describes its parts. */
final class MlperfTiny {
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
}
