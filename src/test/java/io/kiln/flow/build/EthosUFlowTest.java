// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.base.Bytes;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.flow.spec.VerifyOn;
import io.kiln.frontend.tflite.VelaModel;
import io.kiln.process.TestPrograms;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import io.kiln.toolchain.compiler.TestToolchains;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files that Vela compiled, in QEMU on a Cortex-M55 with the model of the NPU in place of Arm's driver. */
class EthosUFlowTest {
    @TempDir
    private Path folder;

    /** Six networks in one image for the board's NPU, all of them with the vectors of TensorFlow Lite's reference kernels. */
    @Test
    @NeedsShared({"ethosu", "golden"})
    void networksOfOneConfigurationAnswerTheirVectorsInQemu() {
        TestPrograms.need("qemu-system-arm");
        List<ModelSource> models = Stream.of(
                        "ad01_int8", "hello_world_int8", "kws_ref_model", "micro_kws_xs", "pretrainedResnet_quant")
                .map(name ->
                        new ModelSource(SharedFolder.need("ethosu").resolve(name + "-u55-128.tflite"), name))
                .collect(Collectors.toCollection(ArrayList::new));
        models.add(new ModelSource(
                SharedFolder.need("ethosu").resolve("vww_96_int8-u55-128-size.tflite"), "vww_96_int8"));
        Flow flow = new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET));
        flow.build(draft(models, SharedFolder.need("golden")).build(), DeviceSpec.USUAL);
    }

    /** Other configurations of U55 and U65, two cores and fast scratch included. */
    @ParameterizedTest
    @NeedsShared({"ethosu", "golden"})
    @CsvSource({
        "kws_ref_model-u55-32, kws_ref_model, ethos-u55-32",
        "kws_ref_model-u55-64, kws_ref_model, ethos-u55-64",
        "micro_speech_quantized-u55-256, micro_speech_quantized, ethos-u55-256",
        "kws_ref_model-u65-256, kws_ref_model, ethos-u65-256",
        "kws_ref_model-u65-512-dedicated, kws_ref_model, ethos-u65-512"
    })
    void otherConfigurationsAnswerTheirVectorsInQemu(String file, String golden, String npu) {
        TestPrograms.need("qemu-system-arm");
        Flow flow = new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET));
        List<ModelSource> models =
                List.of(new ModelSource(SharedFolder.need("ethosu").resolve(file + ".tflite"), "m"));
        BuildSpec spec = draft(models, SharedFolder.need("golden").resolve(golden))
                .target("ethos-u -accelerator_config=" + npu + ", c -mcpu=cortex-m55")
                .build();
        flow.build(spec, DeviceSpec.USUAL);
    }

    @Test
    @NeedsShared({"ethosu", "golden"})
    void aNetworkAnswersItsVectorsInQemu() {
        TestPrograms.need("qemu-system-arm");
        Flow flow = new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET));
        flow.build(
                spec(
                        SharedFolder.need("ethosu").resolve("kws_ref_model-u55-128.tflite"),
                        SharedFolder.need("golden").resolve("kws_ref_model")),
                DeviceSpec.USUAL);
    }

    /** A part for the NPU, a pool that stayed on the core, another part for the NPU: with a file of our own making. */
    @Test
    void partsOfNpuAndCoreTakeTurns() {
        TestPrograms.need("qemu-system-arm");
        Path file = folder.resolve("mixed.tflite");
        WholeFiles.write(file, VelaModel.mixed(VelaModel.U55_128).build());
        Path vectors = folder.resolve("vectors");
        Random random = new Random(1);
        for (int i = 0; i < 3; i++) {
            byte[] input = new byte[VelaModel.ROWS * VelaModel.COLUMNS * VelaModel.CHANNELS];
            random.nextBytes(input);
            WholeFiles.write(vectors.resolve("input_" + i + ".bin"), input);
            WholeFiles.write(
                    vectors.resolve("output_" + i + ".bin"),
                    VelaModel.answer(Bytes.wrap(input)).toArray());
        }
        Flow flow = new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET));
        flow.build(spec(file, vectors), DeviceSpec.USUAL);
    }

    private BuildSpec spec(Path file, Path vectors) {
        return draft(List.of(new ModelSource(file, "m")), vectors).build();
    }

    private SpecDraft draft(List<ModelSource> models, Path vectors) {
        return SpecDraft.of(new Layout(folder, folder.resolve("out"), "m"), models, "virtual-corstone-300")
                .toolchain(Optional.of("gnu"))
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.of(vectors), 2, 0));
    }
}
