// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.tflite.FourBitLayer;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tensorflow.lite.schema.BuiltinOperator;

/** Layers of files whose weights are int4: they answer as the interpreter does, and are stored in half the bytes where that is the choice. */
class FourBitWeightsTest {
    private static final String PACKED = "weight_bits=4";

    @TempDir
    private Path folder;

    private static List<FourBitLayer> layers() {
        return List.of(
                new FourBitLayer(BuiltinOperator.CONV_2D, 5, 3, 5, true, -7),
                new FourBitLayer(BuiltinOperator.CONV_2D, 5, 4, 8, false, -7),
                new FourBitLayer(BuiltinOperator.CONV_2D, 5, 5, 7, true, -8),
                new FourBitLayer(BuiltinOperator.DEPTHWISE_CONV_2D, 5, 9, 9, true, -8),
                new FourBitLayer(BuiltinOperator.DEPTHWISE_CONV_2D, 5, 13, 13, false, -7),
                new FourBitLayer(BuiltinOperator.DEPTHWISE_CONV_2D, 5, 5, 10, true, -8),
                new FourBitLayer(BuiltinOperator.FULLY_CONNECTED, 1, 37, 5, false, -8),
                new FourBitLayer(BuiltinOperator.FULLY_CONNECTED, 1, 32, 7, true, -7));
    }

    private static CompiledModel compile(Function function, String name, String target, Optimize optimize) {
        return ModelCompiler.compile(
                RequestDraft.of(Path.of("int4.tflite"), target)
                        .name(name)
                        .optimize(optimize)
                        .build(),
                function);
    }

    private static OperatorInfo only(CompiledModel model) {
        assertThat(model.library().metadata().operators()).hasSize(1);
        return model.library().metadata().operators().get(0);
    }

    @ParameterizedTest
    @CsvSource({
        "c -keys=cpu, SIZE",
        "c -mcpu=cortex-m4, SIZE",
        "c -mcpu=cortex-m4, SPEED",
        "c -mcpu=cortex-m3, SPEED",
        "c -mcpu=cortex-m0, RAM",
        "c -mcpu=cortex-m4 -i-cache-size=1024, SPEED",
        "c -mcpu=cortex-m55, SPEED",
        "c -march=rv32imac, SPEED"
    })
    void answersAreTheInterpreters(String target, Optimize optimize) {
        List<ModelMetadata> models = new ArrayList<>();
        List<List<Artifact>> artifacts = new ArrayList<>();
        List<Bytes> inputs = new ArrayList<>();
        List<Bytes> expected = new ArrayList<>();
        for (FourBitLayer layer : layers()) {
            Function function = layer.model().read();
            CompiledModel compiled = compile(function, "m" + models.size(), target, optimize);
            inputs.add(RandomOperators.input(function.params().get(0).type(), models.size()));
            expected.addAll(Interpreter.run(function, List.of(inputs.get(models.size()))));
            models.add(compiled.library().metadata());
            artifacts.add(compiled.library().artifacts().artifacts());
        }
        Bytes actual = HostProgram.build(folder, models, artifacts).run(inputs);
        byte[] all = new byte[expected.stream().mapToInt(Bytes::size).sum()];
        int at = 0;
        for (Bytes one : expected) {
            System.arraycopy(one.toArray(), 0, all, at, one.size());
            at += one.size();
        }
        assertThat(actual).isEqualTo(Bytes.wrap(all));
    }

    /** Odd channels fill up blocks, odd windows pairs of taps: neither takes more than a byte for each channel and tap. */
    @ParameterizedTest
    @CsvSource({"c -keys=cpu", "c -mcpu=cortex-m4", "c -mcpu=cortex-m0", "c -march=rv32imac"})
    void forSizeEveryLayerIsStoredInHalfTheBytes(String target) {
        for (FourBitLayer layer : layers()) {
            Function function = layer.model().read();
            CompiledModel packed = compile(function, "m", target, Optimize.SIZE);
            assertThat(only(packed).schedule()).as(layer.toString()).contains(PACKED);
            List<String> tables = weightTables(packed);
            assertThat(tables).allMatch(text -> text.contains("/* Two weights "));
            int bytes = tables.stream()
                    .mapToInt(text -> Integer.parseInt(text.replaceAll("(?s).*\\[(\\d+)\\] = .*", "$1")))
                    .sum();
            int most = layer.isDepthwise()
                    ? 5 * layer.out()
                    : (layer.weights() / layer.out() + 1) / 2 * ((layer.out() + 3) / 4 * 4);
            assertThat(bytes).as(layer.toString()).isBetween((layer.weights() + 1) / 2, most);
            assertThat(packed.library().metadata().constantBytes())
                    .isEqualTo(only(packed).constantBytes())
                    .isGreaterThanOrEqualTo(bytes);
        }
    }

    private static List<String> weightTables(CompiledModel model) {
        return model.library().artifacts().artifacts().stream()
                .filter(file -> file.fileName().endsWith("_lib1.c"))
                .flatMap(file -> Arrays.stream(file.content().text().split("\n\n")))
                .filter(part -> part.contains("static const ") && part.contains("_weight"))
                .toList();
    }

    /** Weights of -8 behind negative ones have a kernel everywhere but on Cortex-M3. */
    @Test
    void forSpeedKernelsReadHalfBytes() {
        Function seven = layers().get(1).model().read();
        Function eight = layers().get(2).model().read();
        for (String core : List.of("-mcpu=cortex-m4", "-mcpu=cortex-m55", "-mcpu=cortex-m0", "-march=rv32imac")) {
            assertThat(schedule(seven, "c " + core)).as(core).contains(PACKED).doesNotContain("direct");
            assertThat(schedule(eight, "c " + core)).as(core).contains(PACKED).doesNotContain("direct");
        }
        assertThat(schedule(seven, "c -mcpu=cortex-m3")).contains("conv_blocked", PACKED);
        assertThat(schedule(eight, "c -mcpu=cortex-m3")).doesNotContain(PACKED);
        assertThat(schedule(seven, "c -keys=cpu")).doesNotContain(PACKED);
    }

    /** The integers of the file are multiplied, and each sum by its scale. */
    @Test
    void floatDataIsMultipliedByPackedWeights() {
        for (FourBitLayer layer : List.of(
                new FourBitLayer(BuiltinOperator.FULLY_CONNECTED, 1, 37, 5, true, -8),
                new FourBitLayer(BuiltinOperator.FULLY_CONNECTED, 1, 64, 8, false, -7))) {
            Function function = layer.floatModel().read();
            CompiledModel compiled = compile(function, "m", "c -mcpu=cortex-m4", Optimize.SPEED);
            assertThat(only(compiled).schedule()).contains(PACKED);
            Bytes input = RandomOperators.input(function.params().get(0).type(), layer.in());
            Bytes actual = HostProgram.build(
                            folder.resolve("m" + layer.in()),
                            List.of(compiled.library().metadata()),
                            List.of(compiled.library().artifacts().artifacts()))
                    .run(List.of(input));
            for (int channel = 0; channel < layer.out(); channel++) {
                double expected = 0;
                for (int i = 0; i < layer.in(); i++) {
                    expected += input.buffer().order(ByteOrder.LITTLE_ENDIAN).getFloat(Float.BYTES * i)
                            * layer.realWeight(channel, i);
                }
                assertThat((double)
                                actual.buffer().order(ByteOrder.LITTLE_ENDIAN).getFloat(Float.BYTES * channel))
                        .isCloseTo(expected, within(1e-5 * (1 + Math.abs(expected))));
            }
        }
    }

    private static String schedule(Function function, String target) {
        return only(compile(function, "m", target, Optimize.SPEED)).schedule();
    }
}
