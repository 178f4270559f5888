// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Cores without an extension that their relatives have: the assembler refuses its instructions, and the model answers bit for bit. */
class CoreVariantsTest {
    @TempDir
    private Path folder;

    /** Boards that stand in for the cores. */
    private static final Map<String, List<String>> CORES = new TreeMap<>(Map.of(
            "mps2-an500", List.of("cortex-m7+nofp"),
            "mps2-an505",
                    List.of(
                            "cortex-m23",
                            "cortex-m33+nodsp",
                            "cortex-m33+nofp+nodsp",
                            "cortex-m35p",
                            "cortex-m35p+nofp"),
            "mps3-an547", List.of("cortex-m52", "cortex-m55+nofp", "cortex-m55+nomve"),
            "qemu-riscv32",
                    List.of("rv32i", "rv32ic", "rv32iac", "rv32im", "rv32imc", "rv32ima", "rv32imf", "rv32imfc")));

    /** Of which each lacks something else. */
    private static final List<String> USUAL =
            List.of("clang cortex-m23", "clang cortex-m33+nofp+nodsp", "gnu cortex-m55+nomve", "clang rv32i");

    /** {@code nightly} runs all of them with both compilers. */
    private static List<Arguments> variants() {
        boolean isAll = System.getProperty("kiln.golden", "").equals("all");
        List<Arguments> variants = new ArrayList<>();
        CORES.forEach((base, cores) ->
                cores.forEach(core -> List.of("clang", "gnu").forEach(toolchain -> {
                    if (isAll || USUAL.contains(toolchain + " " + core)) {
                        variants.add(Arguments.of(toolchain, base, core));
                    }
                })));
        return variants;
    }

    @ParameterizedTest
    @MethodSource("variants")
    void theModelAnswersAsItShould(String toolchain, String base, String core) throws IOException {
        TestPrograms.need(core.startsWith("rv32") ? "qemu-system-riscv32" : "qemu-system-arm");
        String keys = core.startsWith("rv32") ? "-keys=riscv_cpu,cpu -march=" : "-keys=arm_cpu,cpu -mcpu=";
        WholeFiles.write(
                folder.resolve("src/main/boards/mine/board.yaml"),
                "schema: 1\nid: mine\ntitle: Mine\nextends: " + base + "\ntarget: c " + keys + core + " -model=mine\n");
        VerifySpec vectors = new VerifySpec(VerifyOn.EMULATOR, Optional.of(GestureProject.VECTORS), 0, 0);
        new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET))
                .build(
                        new GestureProject(folder)
                                .spec("mine")
                                .toolchain(Optional.of(toolchain))
                                .verify(vectors)
                                .build(),
                        DeviceSpec.USUAL);
        assertThat(new GestureProject(folder)
                        .json("kiln/verify.json")
                        .path("bitExact")
                        .asBoolean())
                .isTrue();
    }
}
