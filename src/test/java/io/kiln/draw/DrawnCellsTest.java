// SPDX-License-Identifier: Apache-2.0
package io.kiln.draw;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.OnnxDraw;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.RandomBlockModels;
import io.kiln.frontend.onnx.RandomFloatModels;
import io.kiln.frontend.onnx.RandomNewerModels;
import io.kiln.frontend.onnx.quantized.RandomFourBitLayers;
import io.kiln.frontend.onnx.quantized.RandomModels;
import io.kiln.frontend.onnx.quantized.RandomRealBiases;
import io.kiln.frontend.onnx.quantized.RandomResizes;
import io.kiln.frontend.onnx.quantized.RandomSingles;
import io.kiln.frontend.tflite.FlexOptions;
import io.kiln.frontend.tflite.single.OperatorCases;
import io.kiln.frontend.tflite.single.SingleOperatorTest;
import io.kiln.ir.Function;
import io.kiln.ir.Operators;
import io.kiln.ir.op.Signature;
import io.kiln.transform.RandomFloatNets;
import io.kiln.transform.RandomNets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongFunction;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What the random tests draw of each operator: element types, attributes, constants and forms of operands, of the functions and of the
 * files that these are read from. A cell of {@code operators/drawn.txt} that is drawn no more fails; {@code -Dkiln.drawn.write=true} writes
 * the list anew.
 */
class DrawnCellsTest {
    private static final Path LIST = Path.of("src/test/resources/operators/drawn.txt");

    /** As many as {@code LoweringPropertyTest} takes. */
    private static final int MIXED = 1500;

    private static final int ELEMENTS = 500;

    /** As many as {@code SingleOperatorTest} takes. */
    private static final int TFLITE_SEEDS = 6;

    /** Operators that the tests of lowerings do not draw, by reason. */
    private static final Map<String, List<String>> NOT_DRAWN = Map.of(
            "has variables or calls functions, which loops of one operator alone do not show",
            List.of(
                    "ref_write",
                    "tfl.circular_buffer",
                    "tfl.if",
                    "tfl.signal_delay",
                    "tfl.signal_framer",
                    "tfl.signal_overlap_add",
                    "tfl.signal_stacker",
                    "tfl.svdf",
                    "tfl.unidirectional_sequence_lstm",
                    "tfl.while"),
            "its C is compared for whole tensors, not for ranges of rows",
            List.of(
                    "tfl.detection_postprocess",
                    "tfl.signal_energy",
                    "tfl.signal_fft_auto_scale",
                    "tfl.signal_filter_bank",
                    "tfl.signal_filter_bank_log",
                    "tfl.signal_filter_bank_spectral_subtraction",
                    "tfl.signal_filter_bank_square_root",
                    "tfl.signal_irfft",
                    "tfl.signal_pcan",
                    "tfl.signal_rfft",
                    "tfl.signal_window"),
            "it has variables, and no file of a model: BoundStatesTest runs it in the forms that states have",
            List.of("tfl.ring_write"),
            "MatricesTest draws its products",
            List.of("tfl.batch_matmul"),
            "only ONNX models have it, which draw its tables",
            List.of("ml.tree_ensemble", "onnx.block_dense", "onnx.resize2d"),
            "its C is the user's: CustomOperatorTest runs it",
            List.of("tfl.custom"),
            "an NPU computes it, or left it in memory: EthosUFlowTest runs the C around it",
            List.of("tfl.ethos_u", "tfl.ethos_u_tensor"));

    /** Who draws. */
    enum Drawn {
        LOWERING,
        NETS,
        TFLITE,
        ONNX,
        TFLITE_FILES,
        ONNX_FILES;

        SortedMap<String, SortedSet<String>> cells() {
            return switch (this) {
                case LOWERING ->
                    DrawnCells.of(
                            Stream.concat(of(MIXED, RandomOperators::mixed), of(ELEMENTS, RandomOperators::element)));
                case NETS ->
                    DrawnCells.of(Stream.of(
                                    of(40, RandomNets::next),
                                    of(40, RandomFloatNets::next),
                                    of(40, RandomResiduals::next))
                            .flatMap(each -> each));
                case TFLITE -> DrawnCells.of(SingleOperatorTest.operators().flatMap(DrawnCellsTest::functions));
                case ONNX ->
                    DrawnCells.of(onnx().map(file -> OnnxFrontend.read(file, "m.onnx", "m", InputShapes.NONE)));
                case TFLITE_FILES ->
                    FileCells.ofTflite(
                            SingleOperatorTest.operators().flatMap(operator -> of(TFLITE_SEEDS, operator::model)));
                case ONNX_FILES -> FileCells.ofOnnx(onnx());
            };
        }
    }

    private static Stream<Bytes> onnx() {
        return Stream.of(
                        of(80, RandomFloatModels::draw).map(OnnxDraw.Model::file),
                        of(80, RandomNewerModels::draw).map(OnnxDraw.Model::file),
                        of(40, RandomBlockModels::draw).map(OnnxDraw.Model::file),
                        of(140, RandomModels::draw).map(OnnxDraw.Model::file),
                        of(40, RandomRealBiases::draw).map(OnnxDraw.Model::file),
                        of(40, RandomFourBitLayers::draw).map(OnnxDraw.Model::file),
                        of(40, RandomResizes::draw).map(OnnxDraw.Model::file),
                        of(40, RandomSingles::draw).map(OnnxDraw.Model::file))
                .flatMap(each -> each);
    }

    private static <T> Stream<T> of(long count, LongFunction<T> drawn) {
        return LongStream.range(0, count).mapToObj(drawn);
    }

    private static Stream<Function> functions(OperatorCases operator) {
        boolean isRoundedOtherwise = operator.kernels() == OperatorCases.Kernels.ROUNDED_OTHERWISE;
        return (isRoundedOtherwise ? Arrays.stream(TfliteRounding.values()) : Stream.of(TfliteRounding.MICRO))
                .flatMap(rounding -> of(TFLITE_SEEDS, seed -> operator.function(seed, rounding, "case")));
    }

    @ParameterizedTest
    @EnumSource
    void noCellIsLost(Drawn drawn) throws IOException {
        SortedMap<String, SortedSet<String>> cells = drawn.cells();
        if (Boolean.getBoolean("kiln.drawn.write")) {
            write(drawn, cells);
        }
        SortedMap<String, SortedSet<String>> lost = listed(drawn);
        lost.forEach((operator, own) -> own.removeAll(cells.getOrDefault(operator, new TreeSet<>())));
        lost.values().removeIf(Set::isEmpty);
        assertThat(lost).as("no test draws it any more").isEmpty();
    }

    /** A line: who draws, the operator, and its cells. */
    private static SortedMap<String, SortedSet<String>> listed(Drawn drawn) throws IOException {
        SortedMap<String, SortedSet<String>> listed = new TreeMap<>();
        for (String line : Files.readAllLines(LIST)) {
            String[] words = line.split("[ :]+", 3);
            if (words[0].equals(drawn.name())) {
                listed.put(words[1], new TreeSet<>(List.of(words[2].split(", ", -1))));
            }
        }
        assertThat(listed).isNotEmpty();
        return listed;
    }

    private static void write(Drawn drawn, SortedMap<String, SortedSet<String>> cells) throws IOException {
        List<String> lines = Files.exists(LIST) ? new ArrayList<>(Files.readAllLines(LIST)) : new ArrayList<>();
        lines.removeIf(line -> line.startsWith(drawn.name() + " "));
        cells.forEach((operator, own) -> lines.add(drawn + " " + operator + ": " + String.join(", ", own)));
        Files.write(LIST, lines.stream().sorted().toList());
    }

    @Test
    void filesDoNotDependOnTheOrderOfMaps() {
        Map<String, Object> one = new LinkedHashMap<>();
        Map<String, Object> other = new LinkedHashMap<>();
        for (int i = 0; i < 9; i++) {
            one.put("a" + i, (long) i);
            other.put("a" + (8 - i), (long) (8 - i));
        }
        assertThat(FlexOptions.of(one)).isEqualTo(FlexOptions.of(other));
        assertThat(file(one)).isEqualTo(file(other));
    }

    private static Bytes file(Map<String, Object> attributes) {
        ModelBuilder model = new ModelBuilder(13);
        model.node("Any", List.of(), "y", attributes);
        return model.build();
    }

    @Test
    void everyOtherOperatorIsLowered() throws IOException {
        Set<String> lowered = listed(Drawn.LOWERING).keySet();
        assertThat(Operators.ALL.stream().map(Signature::name).filter(name -> !lowered.contains(name)))
                .as("draw it, or say why not")
                .containsExactlyInAnyOrderElementsOf(
                        NOT_DRAWN.values().stream().flatMap(List::stream).toList());
    }

    /** What the tests of lowerings do not draw, the tests against other runtimes do. */
    @Test
    void whatIsNotLoweredIsDrawnElsewhere() throws IOException {
        Set<String> drawn = new TreeSet<>(listed(Drawn.TFLITE).keySet());
        drawn.addAll(listed(Drawn.ONNX).keySet());
        assertThat(NOT_DRAWN.values().stream().flatMap(List::stream).filter(name -> !drawn.contains(name)))
                .containsExactlyInAnyOrder(
                        "ml.tree_ensemble", "tfl.custom", "tfl.ethos_u", "tfl.ethos_u_tensor", "tfl.ring_write");
    }
}
