// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.bench.BenchData.Core;
import io.kiln.bench.BenchImage.Setting;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.NewerModel;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.OnnxRuntime;
import io.kiln.ir.Function;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Images of ONNX models: what quantized ones are linked with, and what all of them cost and answer. */
@NeedsShared({"golden", "onnx"})
final class OnnxImagesTest {
    private static final List<String> QUANTIZED =
            List.of("micro_kws_m_static_qdq.onnx", "micro_kws_m_static_qoperator.onnx");
    private static final List<String> FLOAT =
            List.of("micro_kws_m_static_fp32.onnx", "onnx_mnist.onnx", "mnist_simplified.onnx");

    @TempDir
    private Path folder;

    /** Cores without floats: no routine of the compiler's library for floats is linked. */
    @ParameterizedTest
    @ValueSource(strings = {"M0", "M3"})
    void quantizedModelsNeedNoFloats(String core) {
        for (String name : QUANTIZED) {
            assertThat(image(SharedFolder.need("onnx").resolve(name), core).forbidden())
                    .as(name)
                    .isEmpty();
        }
    }

    /** Nor does a floating-point unit compute anything; and they cost at most a tenth more than the same model of TensorFlow Lite. */
    @Test
    void quantizedModelsCostAsMuchAsTheirTwinInTensorflowLite() throws IOException {
        Path plugin = plugin();
        Path golden = GoldenModels.model("micro_kws_m").getParent();
        BenchRun twin = BenchRun.of(image(GoldenModels.model("micro_kws_m"), "M4F"), golden, 1, plugin);
        for (String name : QUANTIZED) {
            BenchImage image = image(SharedFolder.need("onnx").resolve(name), "M4F");
            assertThat(Disassembly.of(image).computingFloats()).as(name).isEmpty();
            BenchRun run = run(name, image, plugin);
            assertThat(run.bitExact()).as(name).isTrue();
            assertThat((double) run.instructions() / twin.instructions())
                    .as(name)
                    .isLessThan(1.1);
        }
    }

    @Test
    void floatModelsAnswerAsInOnnxRuntimeAndUseTheKernelsOfOthers() throws IOException {
        Path plugin = plugin();
        List<Double> perMac = new ArrayList<>();
        for (String name : FLOAT) {
            BenchImage image = image(SharedFolder.need("onnx").resolve(name), "M4F");
            assertThat(Disassembly.of(image).computingFloats()).as(name).isNotEmpty();
            BenchRun run = run(name, image, plugin);
            assertThat(run.bitExact()).as(name).isTrue();
            perMac.add(perMac(image, run));
        }
        Path model = GoldenModels.model("pretrainedResnet");
        BenchImage twin = image(model, "M4F");
        assertThat(perMac.get(0) / perMac(twin, BenchRun.of(twin, model.getParent(), 1, plugin)))
                .as("the convolutions of a model of speech beside those of a model of TensorFlow Lite")
                .isLessThan(1.05);
    }

    /** Instructions of convolutions for a multiply-accumulate. */
    private static double perMac(BenchImage image, BenchRun run) {
        List<OperatorInfo> operators = image.metadata().operators();
        long instructions = 0;
        long macs = 0;
        for (int i = 0; i < operators.size(); i++) {
            if (operators.get(i).name().contains("conv2d")) {
                instructions += run.tallies().get(i + 1).instructions();
                macs += operators.get(i).macs();
            }
        }
        return (double) instructions / macs;
    }

    private Path plugin() {
        BenchTest.needs("qemu-system-arm");
        BenchTest.needs("cc");
        return Bench.plugin(folder);
    }

    private BenchImage image(Path file, String core) {
        Core chosen = BenchData.load().cores().get(core);
        TestToolchains.resolve("gnu", "c -mcpu=cortex-m4");
        Setting setting = new Setting("gnu", Optimize.SPEED, Io.CALLER);
        return BenchImage.build(folder.resolve(core + file.getFileName()), file, "model", chosen, setting, 1);
    }

    /** A real model with a drawn input, on the core with a floating-point unit. */
    private BenchRun run(String name, BenchImage image, Path plugin) throws IOException {
        Path file = SharedFolder.need("onnx").resolve(name);
        Function function = OnnxFrontend.read(file, "model", InputShapes.NONE);
        List<Bytes> inputs =
                List.of(RandomOperators.input(function.params().get(0).type(), 1));
        Bytes model = NewerModel.of(Bytes.wrap(Files.readAllBytes(file)));
        Bytes answer = OnnxRuntime.run(model, function.params(), inputs).get(0);
        Path golden = Files.createDirectories(folder.resolve("golden-" + name));
        Files.write(golden.resolve("input_0.bin"), inputs.get(0).toArray());
        Files.write(golden.resolve("output_0.bin"), answer.toArray());
        return BenchRun.of(image, golden, 1, plugin);
    }
}
