// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.firmware.RecordingLog;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.MachineSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifyOver;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.ImageSpec.RunSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.frontend.tflite.VelaModel;
import io.kiln.process.TestPrograms;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Models that Vela compiled, in QEMU on a Cortex-M55: with the model of the NPU in place of Arm's driver, and with a driver of the user's. */
class EthosUFlowTest {
    private static final boolean ALL = System.getProperty("kiln.golden", "").equals("all");

    private static final String DRIVER_HEADER = """
        #ifndef ETHOSU_DRIVER_H
        #define ETHOSU_DRIVER_H
        #include <stddef.h>
        #include <stdint.h>
        struct ethosu_driver { uintptr_t base; int reserved; };
        int ethosu_init(struct ethosu_driver* drv, void* const base_address, const void* fast_memory,
                        const size_t fast_memory_size, uint32_t secure_enable, uint32_t privilege_enable);
        void ethosu_irq_handler(struct ethosu_driver* drv);
        struct ethosu_driver* ethosu_reserve_driver(void);
        void ethosu_release_driver(struct ethosu_driver* drv);
        #endif
        """;

    /** Computes what the parts of {@link VelaModel} compute, if pointers and sizes are those that a driver expects. */
    private static final String DRIVER = """
        #include "ethosu_driver.h"
        #include <string.h>
        static struct ethosu_driver* only;
        int ethosu_invoke_v3(struct ethosu_driver* drv, const void* payload, const int bytes, uint64_t* const base,
                             const size_t* size, const int count, void* user);
        int ethosu_init(struct ethosu_driver* drv, void* const base_address, const void* fast_memory,
                        const size_t fast_memory_size, uint32_t secure_enable, uint32_t privilege_enable) {
          (void)fast_memory;
          drv->base = (uintptr_t)base_address;
          only = drv;
          return drv->base == 0x58102000u && fast_memory_size == 0 && !secure_enable && privilege_enable ? 0 : -1;
        }
        void ethosu_irq_handler(struct ethosu_driver* drv) { (void)drv; }
        struct ethosu_driver* ethosu_reserve_driver(void) { only->reserved++; return only; }
        void ethosu_release_driver(struct ethosu_driver* drv) { drv->reserved--; }
        int ethosu_invoke_v3(struct ethosu_driver* drv, const void* payload, const int bytes, uint64_t* const base,
                             const size_t* size, const int count, void* user) {
          (void)user;
          if (drv->reserved != 1 || (uintptr_t)payload % 16 || memcmp(payload, "COP1", 4) || bytes % 4) return -1;
          for (int i = 0; i < 3; ++i) if (base[i] % 16) return -1;
          if (size[0] != 16 || size[1] != 512 || base[3] < base[1] || base[3] + size[3] > base[1] + size[1]) return -1;
          const int8_t* in = (const int8_t*)(uintptr_t)base[3];
          int8_t* out = (int8_t*)(uintptr_t)base[4];
          for (size_t i = 0; i < size[3]; ++i) {
            if (in[i] == FAILS) return -1;
            if (count == 6) {
              ((int8_t*)(uintptr_t)base[5])[i] = in[i] > 5 ? 5 : in[i];
              out[i] = in[i] < -10 ? -10 : in[i];
            } else {
              out[i] = in[i] > 20 ? 20 : in[i];
            }
          }
          return count == 5 || count == 6 ? 0 : -1;
        }
        """;

    @TempDir
    private Path folder;

    private final RecordingLog log = new RecordingLog();
    private final Flow flow = new Flow(log, TestToolchains.environment(Log.QUIET));

    /**
     * A part for the NPU, a pool that stayed on the core, another part for the NPU, in a file of our own making; in the same image,
     * files that Vela made, with the answers of TensorFlow Lite's reference kernels.
     */
    @Test
    @Tag(SharedFolder.TAG)
    void partsOfNpuAndCoreTakeTurns() throws IOException {
        TestPrograms.need("qemu-system-arm");
        List<ModelSource> models = new ArrayList<>(List.of(new ModelSource(mixed(VelaModel.U55_128), "mixed")));
        Path vectors = vectors("vectors/mixed");
        if (SharedFolder.find("ethosu").isPresent()
                && SharedFolder.find("golden").isPresent()) {
            addVelas(models, vectors.getParent());
        }
        // Vectors of several models lie in folders with their names.
        Path place = models.size() == 1 ? vectors : vectors.getParent();
        flow.build(draft(models, "virtual-corstone-300", place).build(), DeviceSpec.USUAL);
        assertThat(json("kiln/verify.json").path("bitExact").asBoolean()).isTrue();
        assertThat(json("kiln/verify.json").path("cases")).hasSize(3 * models.size());
        assertThat(log.take())
                .anyMatch(line -> line.contains("Model mixed: 6 operators")
                        && line.endsWith("; none of the MACs on the NPU in 2 parts, on the core nn.max_pool2d"));
        JsonNode operators = json("kiln/report.json").path("operators");
        assertThat(operators)
                .filteredOn(each -> each.path("codegen").asText().equals("ethos-u"))
                .hasSize(models.size() + 1);
        assertThat(operators)
                .filteredOn(each -> each.path("op").asText().equals("nn.max_pool2d"))
                .extracting(each -> each.path("stayed").asText())
                .containsExactly("ethos-u.operator: Vela has not compiled it for the NPU");
    }

    private static void addVelas(List<ModelSource> models, Path vectors) throws IOException {
        List<String> names = ALL
                ? List.of(
                        "ad01_int8",
                        "hello_world_int8",
                        "kws_ref_model",
                        "micro_kws_xs",
                        "pretrainedResnet_quant",
                        "vww_96_int8")
                : List.of("hello_world_int8", "micro_kws_xs");
        for (String name : names) {
            String suffix = name.startsWith("vww") ? "-u55-128-size.tflite" : "-u55-128.tflite";
            models.add(new ModelSource(SharedFolder.find("ethosu").orElseThrow().resolve(name + suffix), name));
            try (Stream<Path> files =
                    Files.list(SharedFolder.find("golden").orElseThrow().resolve(name))) {
                for (Path file :
                        files.filter(each -> each.toString().endsWith(".bin")).toList()) {
                    WholeFiles.write(vectors.resolve(name).resolve(file.getFileName()), Files.readAllBytes(file));
                }
            }
        }
    }

    /** Firmware built from the archive of a model, where nobody knows of Vela. */
    @Test
    @EnabledIfSystemProperty(named = "kiln.golden", matches = "all")
    void anArchiveBringsItsPartsAlong() throws IOException {
        List<ModelSource> models = new ArrayList<>(List.of(new ModelSource(mixed(VelaModel.U55_128), "mixed")));
        Path vectors = vectors("vectors");
        flow.build(draft(models, "virtual-corstone-300", vectors).build(), DeviceSpec.USUAL);
        Path archive = folder.resolve("kept.tar");
        Files.copy(folder.resolve("out/m-mlf.tar"), archive);
        BuildSpec again = draft(List.of(new ModelSource(archive, "mixed")), "virtual-corstone-300", vectors)
                .build();
        flow.build(again, DeviceSpec.USUAL);
        assertThat(json("kiln/verify.json").path("bitExact").asBoolean()).isTrue();
    }

    static Stream<List<String>> configurations() {
        List<String> dedicated = List.of("kws_ref_model-u65-512-dedicated", "kws_ref_model", "ethos-u65-512");
        return ALL
                ? Stream.of(
                        dedicated,
                        List.of("kws_ref_model-u55-32", "kws_ref_model", "ethos-u55-32"),
                        List.of("kws_ref_model-u55-64", "kws_ref_model", "ethos-u55-64"),
                        List.of("micro_speech_quantized-u55-256", "micro_speech_quantized", "ethos-u55-256"),
                        List.of("kws_ref_model-u65-256", "kws_ref_model", "ethos-u65-256"))
                : Stream.of(dedicated);
    }

    /** Other configurations, two cores and fast scratch among them, with the vectors and as the interpreter computes the original. */
    @ParameterizedTest
    @NeedsShared({"ethosu", "golden"})
    @MethodSource("configurations")
    void otherNpusAnswerAsTheOriginal(List<String> of) throws IOException {
        TestPrograms.need("qemu-system-arm");
        Path file = SharedFolder.need("ethosu").resolve(of.get(0) + ".tflite");
        Path golden = SharedFolder.need("golden").resolve(of.get(1));
        VerifySpec verify = new VerifySpec(
                VerifyOn.EMULATOR,
                Optional.of(golden),
                2,
                0,
                VerifySpec.USUAL_PROGRAM,
                VerifyOver.CONSOLE,
                Optional.of(golden.resolve("model.tflite")));
        BuildSpec spec = draft(List.of(new ModelSource(file, "m")), "virtual-corstone-300", golden)
                .target("ethos-u -accelerator_config=" + of.get(2) + ", c -mcpu=cortex-m55")
                .verify(verify)
                .build();
        flow.build(spec, DeviceSpec.USUAL);
        assertThat(json("kiln/verify.json").path("bitExact").asBoolean()).isTrue();
        assertThat(json("kiln/verify.json").path("cases")).hasSize(5);
    }

    /** A board of the user's and a driver in src/main/c: what it gets is what Arm's wants, and its error ends the run. */
    @Test
    void aDriverOfTheUsersGetsWhatArmsDriverWants() throws IOException {
        TestPrograms.need("qemu-system-arm");
        writeBoard("npu: {kind: ethos-u55, macs: 128, base: 0x58102000, secure: false, memories: [ssram, sram, ddr]}");
        BuildSpec spec = draft(List.of(new ModelSource(mixed(VelaModel.U55_128), "m")), "my-board", vectors("own"))
                .toolchain(Optional.of("gnu"))
                .build();
        assertThatThrownBy(() -> flow.build(spec, DeviceSpec.USUAL))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("there is no driver of it")
                .hasMessageContaining("ethosu_driver.h");
        WholeFiles.write(folder.resolve("src/main/c/driver/ethosu_driver.h"), DRIVER_HEADER);
        WholeFiles.write(folder.resolve("src/main/c/driver/driver.c"), DRIVER.replace("FAILS", "128"));
        flow.build(spec, DeviceSpec.USUAL);
        assertThat(json("kiln/verify.json").path("bitExact").asBoolean()).isTrue();
        WholeFiles.write(folder.resolve("src/main/c/driver/driver.c"), DRIVER.replace("FAILS", "in[0]"));
        assertThatThrownBy(() -> flow.build(spec, DeviceSpec.USUAL))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the model returned error -1");
        // The same objects on a stand-in: there the model of the NPU computes, and not that driver.
        writeBoard("npu: {kind: ethos-u55, macs: 128, base: 0x58102000}\nemulator: {standIn: virtual-corstone-300}");
        flow.build(spec, DeviceSpec.USUAL);
        assertThat(json("kiln/verify.json").path("bitExact").asBoolean()).isTrue();
        assertThat(json("kiln/verify.json").path("ranOn").asText()).contains("stand-in");
        // So it is on the virtual board itself, although the project has a driver.
        BuildSpec virtual = with(spec, "virtual-corstone-300");
        flow.generate(virtual);
        flow.link(virtual);
    }

    private static BuildSpec with(BuildSpec spec, String board) {
        return spec.with(new MachineSpec(
                board,
                spec.machine().toolchain(),
                spec.machine().boardSources(),
                spec.machine().update()));
    }

    static Stream<List<String>> kits() {
        return Stream.of(
                List.of("alif-e7-devkit-he", "" + VelaModel.U55_128, "NPU_HE_IRQHandler"),
                List.of("numaker-m55m1", "" + VelaModel.U55_256, "NPU_IRQHandler"));
    }

    /** Boards that can be bought: their images hold the driver and its interrupt; their objects answer on the stand-in. */
    @ParameterizedTest
    @EnabledIfSystemProperty(named = "kiln.golden", matches = "all")
    @MethodSource("kits")
    void kitsLinkTheDriverAndAnswerOnTheirStandIn(List<String> kit) throws IOException {
        TestPrograms.need("qemu-system-arm");
        WholeFiles.write(folder.resolve("src/main/c/driver/ethosu_driver.h"), DRIVER_HEADER);
        WholeFiles.write(folder.resolve("src/main/c/driver/driver.c"), DRIVER.replace("FAILS", "128"));
        int configuration = Integer.parseInt(kit.get(1));
        BuildSpec spec = draft(List.of(new ModelSource(mixed(configuration), "m")), kit.get(0), vectors("kit"))
                .build();
        flow.build(spec, DeviceSpec.USUAL);
        assertThat(json("kiln/verify.json").path("bitExact").asBoolean()).isTrue();
        ElfFile image = ElfFile.read(folder.resolve("out/m.elf"));
        long handler = image.symbolValue(kit.get(2)).orElseThrow();
        assertThat(image.symbols())
                .filteredOn(
                        symbol -> symbol.value() == handler && !symbol.name().startsWith("$"))
                .extracting(ElfFile.Symbol::name)
                .as("the handler that calls the driver, and not that of all interrupts without one")
                .containsExactly(kit.get(2));
        assertThat(image.symbolValue("ethosu_invoke_v3")).isPresent();
        assertThat(image.symbolValue("ethosu_model_describe"))
                .as("the model of the NPU")
                .isEmpty();
    }

    /** A driver that waits for an interrupt which never comes: who talks to the image waits no longer than the limit. */
    @Test
    void aDriverThatNeverReturnsEndsInATimeOut() throws IOException {
        TestPrograms.need("qemu-system-arm");
        writeBoard("npu: {kind: ethos-u55, macs: 128, base: 0x58102000, secure: false, memories: [ssram, sram, ddr]}");
        WholeFiles.write(folder.resolve("src/main/c/driver/ethosu_driver.h"), DRIVER_HEADER);
        WholeFiles.write(
                folder.resolve("src/main/c/driver/driver.c"),
                DRIVER.replace(
                        "if (in[i] == FAILS) return -1;", "static volatile int done; while (!done) __asm__(\"wfi\");"));
        BuildSpec spec = draft(List.of(new ModelSource(mixed(VelaModel.U55_128), "m")), "my-board", vectors("late"))
                .build();
        RunSpec run = new RunSpec(Duration.ofSeconds(3), Optional.empty());
        assertThatThrownBy(() -> flow.run(spec, run))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("It printed: kiln: ready, m")
                .hasMessageContaining("the image ran longer than 3 s and was stopped");
        assertThat(TestPrograms.left()).isEmpty();
    }

    @Test
    void aModelForAnotherNpuIsRefusedWithBothNames() {
        BuildSpec spec = draft(
                        List.of(new ModelSource(mixed(VelaModel.U55_256), "m")),
                        "virtual-corstone-300",
                        vectors("other"))
                .build();
        assertThatThrownBy(() -> flow.resolve(spec))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("an ethos-u55-256, and the NPU is an ethos-u55-128")
                .hasMessageContaining("board virtual-corstone-300");
        BuildSpec without = draft(
                        List.of(new ModelSource(mixed(VelaModel.U55_256), "m")), "mps3-an547", vectors("without"))
                .build();
        assertThatThrownBy(() -> flow.resolve(without))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("for an ethos-u55-256, and the target has no NPU");
    }

    private void writeBoard(String npu) {
        WholeFiles.write(folder.resolve("src/main/boards/my-board/board.yaml"), """
            schema: 1
            id: my-board
            title: A board with an NPU
            extends: mps3-an547
            target: c -keys=arm_cpu,cpu -mcpu=cortex-m55 -model=my-board
            """ + npu + "\n");
    }

    private Path mixed(int configuration) {
        Path file = folder.resolve("mixed.tflite");
        WholeFiles.write(file, VelaModel.mixed(configuration).build());
        return file;
    }

    /** Random vectors of the mixed model. */
    private Path vectors(String name) {
        Path vectors = folder.resolve(name);
        Random random = new Random(1);
        for (int i = 0; i < 3; i++) {
            byte[] input = new byte[VelaModel.ROWS * VelaModel.COLUMNS * VelaModel.CHANNELS];
            random.nextBytes(input);
            WholeFiles.write(vectors.resolve("input_" + i + ".bin"), input);
            WholeFiles.write(
                    vectors.resolve("output_" + i + ".bin"),
                    VelaModel.answer(Bytes.wrap(input)).toArray());
        }
        return vectors;
    }

    private SpecDraft draft(List<ModelSource> models, String board, Path vectors) {
        return SpecDraft.of(new Layout(folder, folder.resolve("out"), "m"), models, board)
                .toolchain(Optional.of("clang"))
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.of(vectors), 2, 0));
    }

    private JsonNode json(String file) throws IOException {
        return new ObjectMapper().readTree(folder.resolve("out").resolve(file).toFile());
    }
}
