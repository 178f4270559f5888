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
import io.kiln.frontend.tflite.FourBitLayer;
import io.kiln.frontend.tflite.TfliteModelBuilder;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import io.kiln.toolchain.compiler.TestToolchains;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tensorflow.lite.schema.BuiltinOperator;

/** What int4 weights cost and spare on the cores: each layer beside the same one of which a weight takes five bits. */
final class FourBitWeightsInQemuTest {
    private static final FourBitLayer CONVOLUTION = new FourBitLayer(BuiltinOperator.CONV_2D, 8, 16, 32, true, -7);
    private static final FourBitLayer DEPTHWISE =
            new FourBitLayer(BuiltinOperator.DEPTHWISE_CONV_2D, 8, 64, 64, true, -7);
    private static final FourBitLayer DENSE = new FourBitLayer(BuiltinOperator.FULLY_CONNECTED, 1, 256, 64, true, -7);

    @TempDir
    Path folder;

    /** An image of one layer. */
    private record Measured(long flash, double instructionsPerMac) {}

    @Test
    void halfTheBytesForSize() {
        // The convolution of bytes is computed by SIMD.
        assertSpared("M4F", Optimize.SIZE, CONVOLUTION, 2.2);
        assertSpared("M4F", Optimize.SIZE, DEPTHWISE, 1.4);
        assertSpared("M4F", Optimize.SIZE, DENSE, 4);
        assertSpared("RV32", Optimize.SIZE, CONVOLUTION, 1.15);
        assertSpared("M0", Optimize.SIZE, CONVOLUTION, 1.15);
    }

    @Test
    void halfTheBytesForNothingOnArmv7M() {
        assertSpared("M3", Optimize.SPEED, CONVOLUTION, 1.02);
    }

    /**
     * Holds an image with packed weights against one without.
     *
     * @param slower how many times the instructions it may take
     */
    private void assertSpared(String core, Optimize optimize, FourBitLayer layer, double slower) {
        Measured packed = measure(core, optimize, layer, layer.model(), "packed");
        Measured bytes = measure(core, optimize, layer, layer.unpackedModel(), "bytes");
        String what = String.format(
                Locale.ROOT,
                "%s, %s, %s: %d bytes of %d, %.3f instructions of %.3f a multiply-accumulate",
                core,
                optimize.text(),
                layer,
                packed.flash(),
                bytes.flash(),
                packed.instructionsPerMac(),
                bytes.instructionsPerMac());
        System.out.println(what);
        assertThat(bytes.flash() - packed.flash()).as(what).isGreaterThan(layer.weights() * 4L / 10);
        assertThat(packed.instructionsPerMac()).as(what).isLessThan(slower * bytes.instructionsPerMac());
    }

    private Measured measure(
            String coreName, Optimize optimize, FourBitLayer layer, TfliteModelBuilder model, String name) {
        Core core = BenchData.load().cores().get(coreName);
        Board board = Boards.builtIn().find(core.board());
        TestToolchains.resolve("gnu", core.target().isEmpty() ? board.target() : core.target());
        BenchTest.needs(((Emulation.Qemu) board.emulation()).program());
        BenchTest.needs("cc");
        Path own = folder.resolve(coreName + layer.builtin() + name);
        Function function = model.read();
        Bytes input = RandomOperators.input(function.params().get(0).type(), 1);
        WholeFiles.write(own.resolve("model.tflite"), model.build());
        WholeFiles.write(own.resolve("input_0.bin"), input.toArray());
        WholeFiles.write(
                own.resolve("output_0.bin"),
                Interpreter.run(function, List.of(input)).get(0).toArray());
        BenchImage image = BenchImage.build(
                own.resolve("image"),
                own.resolve("model.tflite"),
                "layer",
                core,
                new Setting("gnu", optimize, Io.CALLER),
                1);
        BenchRun run = BenchRun.of(image, own, 1, Bench.plugin(folder));
        assertThat(run.bitExact()).isTrue();
        long flash = Figures.of(new Setting("gnu", optimize, Io.CALLER), image, run, false)
                .flash();
        return new Measured(
                flash,
                (double) run.instructions()
                        / image.metadata().operators().get(0).macs());
    }
}
