// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.base.WholeFiles;
import io.kiln.bench.BenchData.Core;
import io.kiln.bench.BenchImage.Setting;
import io.kiln.bench.BenchResult.Figures;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.tflite.FourBitLayer;
import io.kiln.frontend.tflite.TfliteModelBuilder;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import io.kiln.toolchain.compiler.TestToolchains;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tensorflow.lite.schema.BuiltinOperator;

/**
 * Layers of four bits take at most 0.6 times the flash of the same layers of eight bits, and at most 1.3 times the cycles: fully connected ones of bytes,
 * and of floats with a scale for each block of 32, and convolutions of bytes.
 */
final class FourBitDenseInQemuTest {
    private static final int INPUTS = 256;
    private static final int UNITS = 128;
    private static final int BLOCK = 32;
    private static final double MOST_FLASH = 0.6;
    private static final double MOST_CYCLES = 1.3;

    private static final FourBitLayer DENSE =
            new FourBitLayer(BuiltinOperator.FULLY_CONNECTED, 1, INPUTS, UNITS, true, -8);
    private static final FourBitLayer CONVOLUTION = new FourBitLayer(BuiltinOperator.CONV_2D, 8, 32, 64, true, -8);

    @TempDir
    Path folder;

    /** An image of one layer. */
    private record Measured(long flash, long cycles, String schedule) {}

    @ParameterizedTest
    @CsvSource({"M4F, gnu, SPEED", "M55, clang, SPEED", "M0, gnu, SPEED", "RV32, gnu, SPEED"})
    void blocksOfFloatLayers(String core, String toolchain, Optimize optimize) {
        Setting setting = new Setting(toolchain, optimize, Io.CALLER);
        List<Measured> measured = new ArrayList<>();
        for (long bits : List.of(4L, 8L)) {
            Bytes file = blocks(bits);
            Function function = OnnxFrontend.read(file, "m.onnx", "layer", InputShapes.NONE);
            measured.add(measure(core, setting, file.toArray(), "onnx", function));
        }
        assertSpared(core + " " + setting, measured);
    }

    @ParameterizedTest
    @CsvSource({"M4F, gnu, SPEED", "M55, clang, SPEED", "M0, gnu, SPEED", "RV32, gnu, SPEED"})
    void layersOfBytes(String core, String toolchain, Optimize optimize) {
        compare(core, toolchain, optimize, DENSE);
    }

    @ParameterizedTest
    @CsvSource({
        "M4F, gnu, SPEED",
        "M4F, clang, SIZE",
        "M55, clang, SPEED",
        "M55, gnu, SIZE",
        "M0, gnu, SPEED",
        "RV32, gnu, SPEED"
    })
    void convolutions(String core, String toolchain, Optimize optimize) {
        compare(core, toolchain, optimize, CONVOLUTION);
    }

    private void compare(String core, String toolchain, Optimize optimize, FourBitLayer layer) {
        Setting setting = new Setting(toolchain, optimize, Io.CALLER);
        List<Measured> measured = new ArrayList<>();
        for (TfliteModelBuilder model : List.of(layer.model(), layer.unpackedModel())) {
            measured.add(measure(core, setting, model.build(), "tflite", model.read()));
        }
        assertSpared(core + " " + setting, measured);
    }

    private static void assertSpared(String where, List<Measured> measured) {
        Measured packed = measured.get(0);
        Measured bytes = measured.get(1);
        double flash = (double) packed.flash / bytes.flash;
        double cycles = (double) packed.cycles / bytes.cycles;
        String what = String.format(
                Locale.ROOT,
                "%s: %d bytes of %d (%.3f), %d cycles of %d (%.3f), %s, %s",
                where,
                packed.flash,
                bytes.flash,
                flash,
                packed.cycles,
                bytes.cycles,
                cycles,
                packed.schedule,
                bytes.schedule);
        System.out.println(what);
        assertThat(flash).as(what).isLessThanOrEqualTo(MOST_FLASH);
        assertThat(cycles).as(what).isLessThanOrEqualTo(MOST_CYCLES);
    }

    private static Bytes blocks(long bits) {
        Random random = new Random(1);
        ModelBuilder model = new ModelBuilder(21);
        byte[] weights = new byte[(int) (INPUTS * UNITS * bits / Byte.SIZE)];
        random.nextBytes(weights);
        int blocks = INPUTS / BLOCK;
        ByteBuffer scales = ByteBuffer.allocate(Float.BYTES * blocks * UNITS).order(ByteOrder.LITTLE_ENDIAN);
        while (scales.hasRemaining()) {
            scales.putFloat((0.1f + random.nextFloat()) / (1 << bits));
        }
        List<String> inputs = List.of(
                model.input("x", ElementType.FLOAT, List.of(1, INPUTS)),
                model.constant(ElementType.UINT8, List.of(UNITS, blocks, (int) (BLOCK * bits / Byte.SIZE)), weights),
                model.constant(ElementType.FLOAT, List.of(UNITS, blocks), scales.array()));
        Map<String, Object> attributes =
                Map.of("K", (long) INPUTS, "N", (long) UNITS, "bits", bits, "block_size", (long) BLOCK);
        model.output(
                model.node("com.microsoft", "MatMulNBits", inputs, "y", attributes),
                ElementType.FLOAT,
                List.of(1, UNITS));
        return model.build();
    }

    private Measured measure(String coreName, Setting setting, byte[] file, String suffix, Function function) {
        Core core = BenchData.load().cores().get(coreName);
        Board board = Boards.builtIn().find(core.board());
        TestToolchains.resolve(setting.toolchain(), core.target().isEmpty() ? board.target() : core.target());
        BenchTest.needs(((Emulation.Qemu) board.emulation()).program());
        BenchTest.needs("cc");
        Path own = folder.resolve("m" + file.length + "_" + file[file.length - 1]
                + Bytes.wrap(file).hashCode());
        Bytes input = RandomOperators.input(function.params().get(0).type(), 1);
        WholeFiles.write(own.resolve("model." + suffix), file);
        WholeFiles.write(own.resolve("input_0.bin"), input.toArray());
        WholeFiles.write(
                own.resolve("output_0.bin"),
                Interpreter.run(function, List.of(input)).get(0).toArray());
        BenchImage image =
                BenchImage.build(own.resolve("image"), own.resolve("model." + suffix), "layer", core, setting, 1);
        BenchRun run = BenchRun.of(image, own, 1, Bench.plugin(folder));
        assertThat(run.bitExact()).isTrue();
        Figures figures = Figures.of(setting, image, run, false);
        return new Measured(
                figures.flash(),
                figures.cycles().expected(),
                image.metadata().operators().get(0).schedule());
    }
}
