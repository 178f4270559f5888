// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.ir.Function;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.reference.Interpreter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Transposes between layers are gone after the import, and answers stay those of ONNX Runtime. */
class LayoutTest {
    private static final int CHANNELS = 3;
    private static final int SIZE = 6;

    @TempDir
    private Path folder;

    private static String random(ModelBuilder model, long seed, Integer... dims) {
        Random random = new Random(seed);
        int elements = List.of(dims).stream().reduce(1, (a, b) -> a * b);
        ByteBuffer data = ByteBuffer.allocate(Float.BYTES * elements).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < elements; i++) {
            data.putFloat(random.nextFloat() - 0.5f);
        }
        return model.constant(ElementType.FLOAT, List.of(dims), data.array());
    }

    private static String conv(ModelBuilder model, String input, String output, int in, int out, long seed) {
        String weight = random(model, seed, out, in, 3, 3);
        String bias = random(model, seed + 1, out);
        return model.node("Conv", List.of(input, weight, bias), output, Map.of("pads", List.of(1L, 1L, 1L, 1L)));
    }

    /** Layers with everything between them that keeps a layout: a residual, a join, a cut, a border, factors of channels. */
    private static ModelBuilder network() {
        ModelBuilder model = new ModelBuilder(13);
        model.input("x", ElementType.FLOAT, List.of(1, CHANNELS, SIZE, SIZE));
        conv(model, "x", "a", CHANNELS, 4, 1);
        model.node("Relu", List.of("a"), "b", Map.of());
        conv(model, "b", "c", 4, 4, 3);
        model.node("Add", List.of("b", "c"), "d", Map.of());
        model.node("Concat", List.of("d", "b"), "e", Map.of("axis", 1L));
        model.node("Mul", List.of("e", random(model, 5, 8, 1, 1)), "f", Map.of());
        model.node("PRelu", List.of("f", random(model, 6, 8, 1, 1)), "g", Map.of());
        String scalar = model.floats(true, 0);
        ByteBuffer pads = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
        pads.putLong(16, 1).putLong(56, 1);
        String border = model.constant(ElementType.INT64, List.of(8), pads.array());
        model.node("Pad", List.of("g", border, scalar), "h", Map.of());
        conv(model, "h", "i", 8, 5, 7);
        return model;
    }

    private static Function read(Bytes model) {
        return OnnxFrontend.read(model, "m.onnx", "m", InputShapes.NONE);
    }

    private static void answersAsOnnxRuntime(Bytes model, Function function) {
        List<Bytes> inputs = function.params().stream()
                .map(p -> RandomOperators.input(p.type(), 7))
                .toList();
        close(
                OnnxRuntime.run(model, function.params(), inputs).get(0),
                Interpreter.run(function, inputs).get(0));
    }

    private static void close(Bytes expected, Bytes actual) {
        assertThat(actual.size()).isEqualTo(expected.size());
        for (int i = 0; i < expected.size(); i += Float.BYTES) {
            float wanted = expected.buffer().order(ByteOrder.LITTLE_ENDIAN).getFloat(i);
            float given = actual.buffer().order(ByteOrder.LITTLE_ENDIAN).getFloat(i);
            assertThat(given)
                    .isBetween(wanted - 1e-5f * (1 + Math.abs(wanted)), wanted + 1e-5f * (1 + Math.abs(wanted)));
        }
    }

    private static long transposes(Function function) {
        return function.bindings().stream()
                .filter(b -> b.op() instanceof Transpose)
                .count();
    }

    @Test
    void onlyTheInputIsTransposedBeforeAFlattenedImage() {
        ModelBuilder builder = network();
        builder.node("MaxPool", List.of("i"), "j", Map.of("kernel_shape", List.of(2L, 2L), "strides", List.of(2L, 2L)));
        builder.node("Flatten", List.of("j"), "k", Map.of());
        builder.node("Gemm", List.of("k", random(builder, 9, 10, 45)), "y", Map.of("transB", 1L));
        builder.output("y", ElementType.FLOAT, List.of(1, 10));
        Function function = read(builder.build());
        assertThat(transposes(function)).isEqualTo(1);
        answersAsOnnxRuntime(builder.build(), function);
    }

    @Test
    void reductionsAndExcitationsNeedNoTranspose() {
        ModelBuilder builder = network();
        builder.node("GlobalAveragePool", List.of("i"), "s", Map.of());
        builder.node("Sigmoid", List.of("s"), "t", Map.of());
        builder.node("Mul", List.of("i", "t"), "u", Map.of());
        builder.node("ReduceMean", List.of("u"), "y", Map.of("axes", List.of(2L, 3L), "keepdims", 0L));
        builder.output("y", ElementType.FLOAT, List.of(1, 5));
        Function function = read(builder.build());
        assertThat(transposes(function)).isEqualTo(1);
        answersAsOnnxRuntime(builder.build(), function);
    }

    @Test
    void channelsLastAtTheBorderNeedNoTransposeAtAll() {
        ModelBuilder builder = network();
        builder.output("i", ElementType.FLOAT, List.of(1, 5, SIZE + 1, SIZE + 1));
        Path file = folder.resolve("m.onnx");
        WholeFiles.write(file, builder.build().toArray());
        Function own = OnnxFrontend.read(file, "m", InputShapes.NONE);
        Function last = OnnxFrontend.read(file, "m", InputShapes.NONE, OnnxIo.NHWC);
        assertThat(transposes(own)).isEqualTo(2);
        assertThat(transposes(last)).isZero();
        assertThat(last.params().get(0).type().shape().dims()).containsExactly(1, SIZE, SIZE, CHANNELS);
        Bytes input = RandomOperators.input(own.params().get(0).type(), 3);
        Bytes expected = Interpreter.run(own, List.of(input)).get(0);
        Bytes actual =
                Interpreter.run(last, List.of(channelsLast(input, CHANNELS))).get(0);
        assertThat(actual).isEqualTo(channelsLast(expected, 5));
        answersAsOnnxRuntime(builder.build(), own);
    }

    @Test
    void otherBordersAreRefused() {
        assertThat(OnnxIo.parse("nhwc")).isEqualTo(OnnxIo.NHWC);
        assertThatThrownBy(() -> OnnxIo.parse("nchw"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("model or nhwc");
    }

    private static Bytes channelsLast(Bytes image, int channels) {
        int pixels = image.size() / Float.BYTES / channels;
        List<Float> values = new ArrayList<>();
        for (int p = 0; p < pixels; p++) {
            for (int c = 0; c < channels; c++) {
                values.add(image.buffer().order(ByteOrder.LITTLE_ENDIAN).getFloat(Float.BYTES * (c * pixels + p)));
            }
        }
        ByteBuffer data = ByteBuffer.allocate(image.size()).order(ByteOrder.LITTLE_ENDIAN);
        values.forEach(data::putFloat);
        return Bytes.wrap(data.array());
    }
}
