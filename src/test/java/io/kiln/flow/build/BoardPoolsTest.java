// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Symbol;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.resolve.BoardPools;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.process.TestPrograms;
import io.kiln.reference.OwnModel;
import io.kiln.target.SpareRam.Reads;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A board with two memories for the workspace and two for constants. */
final class BoardPoolsTest {
    private static final long FAST_RAM = 0x20200000L;
    private static final long BESIDE_VARIABLES = 0x20000000L;
    private static final long SECOND_FLASH = 0x00200000L;

    @TempDir
    private Path folder;

    private Flow flow;

    @BeforeEach
    void writeBoard() throws IOException {
        TestPrograms.need("qemu-system-arm");
        flow = new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET));
        Path board = folder.resolve("src/main/boards/divided");
        Files.createDirectories(board);
        Files.writeString(board.resolve("board.yaml"), """
            schema: 1
            id: divided
            title: Two memories of each kind
            extends: mps2-an386
            memories:
              - {name: code, kind: rom, base: 0x00000000, size: 2M}
              - {name: ext, kind: rom, base: 0x00200000, size: 2M, speed: slow}
              - {name: sram, kind: ram, base: 0x20000000, size: 2M}
              - {name: dtcm, kind: ram, base: 0x20200000, size: 2M, speed: fast}
            pools: {workspace: [dtcm, sram], constants: [code, ext]}
            linker: divided.ld
            """);
        Files.writeString(board.resolve("divided.ld"), """
            MEMORY
            {
              CODE (rx) : ORIGIN = 0x00000000, LENGTH = 2M
              EXT (r) : ORIGIN = 0x00200000, LENGTH = 2M
              DATA (rw) : ORIGIN = 0x20000000, LENGTH = 2M
              DTCM (rw) : ORIGIN = 0x20200000, LENGTH = 2M
            }
            REGION_ALIAS("CONSTANTS", CODE)
            SECTIONS
            {
              .rodata.ext : { *(.rodata.tvm.ext) } > EXT
              .bss.noinit.tvm.dtcm (NOLOAD) : { *(.bss.noinit.tvm.dtcm) } > DTCM
            }
            INCLUDE sections.ld
            """);
    }

    /** Neither of the two memories holds the workspace or the constants alone. */
    @Test
    void aModelOfVisionIsDivided() throws IOException {
        BuildSpec spec = spec(
                        OwnModel.VISION.source(), Map.of("dtcm", "6K", "sram", "8K", "code", "64K", "ext", "112K"))
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 1, 0))
                .build();
        flow.build(spec, DeviceSpec.USUAL);

        assertThat(json("verify").path("bitExact").asBoolean()).isTrue();
        assertThat(json("report").at("/plan/bytes").asLong()).isGreaterThan(8 << 10);
        assertThat(json("report").at("/flash/constants").asLong()).isGreaterThan(112 << 10);
        assertThat(bytes("dtcm", FAST_RAM)).isPositive().isLessThanOrEqualTo(6 << 10);
        JsonNode memories = json("report").path("memories");
        assertThat(memories.findValuesAsText("name")).containsExactly("code", "ext", "sram", "dtcm");
        assertThat(memories.get(1).path("used").asLong())
                .isEqualTo(section(".rodata.ext").size());
        assertThat(memories.get(3).path("used").asLong()).isEqualTo(bytes("dtcm", FAST_RAM));
        assertThat(section(".rodata.ext").address()).isEqualTo(SECOND_FLASH);
        assertThat(section(".rodata.ext").size()).isPositive().isLessThanOrEqualTo(112 << 10);
        new HotConstants(json("report"), ElfFile.read(folder.resolve("out/net.elf")))
                .assertLieBelow(SECOND_FLASH, 64 << 10);
    }

    /** The planned bytes of the fastest memory are the caller's to provide, in the memory that the linker script names. */
    @Test
    void workspacePoolsOfTheCallerLieInTheirMemories() throws IOException {
        BuildSpec spec = spec(new ModelSource(GestureProject.MODEL, "gesture"), Map.of("dtcm", "128"))
                .io("workspace")
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.of(GestureProject.VECTORS), 1, 0))
                .build();
        flow.build(spec, DeviceSpec.USUAL);

        assertThat(json("verify").path("bitExact").asBoolean()).isTrue();
        assertThat(bytes("dtcm", FAST_RAM)).isPositive().isLessThanOrEqualTo(128);
        assertThat(bytes("sram", BESIDE_VARIABLES)).isPositive();
    }

    @Test
    void packedFunctionsTakeSeveralPools() throws IOException {
        BuildSpec spec = spec(new ModelSource(GestureProject.MODEL, "gesture"), Map.of("dtcm", "512", "code", "1K"))
                .calls(Optional.of("packed"), false, Optional.empty(), false)
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.of(GestureProject.VECTORS), 1, 0))
                .build();
        flow.build(spec, DeviceSpec.USUAL);

        assertThat(json("verify").path("bitExact").asBoolean()).isTrue();
        assertThat(bytes("dtcm", FAST_RAM)).isPositive().isLessThanOrEqualTo(512);
        assertThat(section(".rodata.ext").size()).isPositive();
    }

    @Test
    void whatDoesNotFitIsSaidBeforeCompiling() {
        ModelSource gesture = new ModelSource(GestureProject.MODEL, "gesture");
        assertThatThrownBy(() -> flow.generate(
                        spec(gesture, Map.of("dtcm", "64", "sram", "128")).build()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the workspace does not fit in its memory pools")
                .hasMessageContaining("expected at most dtcm 64 bytes, sram 128 bytes");
        assertThatThrownBy(() -> flow.generate(
                        spec(gesture, Map.of("code", "64", "ext", "128")).build()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the constants take ")
                .hasMessageContaining("at most code 64 bytes, ext 128 bytes, each operator's constants in one of them");
        assertThatThrownBy(
                        () -> flow.generate(spec(gesture, Map.of("itcm", "64")).build()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("kiln.memory.itcm: board divided has no memory pool itcm")
                .hasMessageContaining("one of dtcm, sram, code, ext");
        assertThatThrownBy(() -> spec(gesture, Map.of("dtcm", "much")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("kiln.memory.dtcm is 'much'");
    }

    /** Whatever the order of the list, the values that fit lie in the fast memory. */
    @Test
    void theFastestMemoryIsFilledFirst() throws IOException {
        Path board = folder.resolve("src/main/boards/divided/board.yaml");
        Files.writeString(board, Files.readString(board).replace("workspace: [dtcm, sram]", "workspace: [sram, dtcm]"));
        Path script = folder.resolve("src/main/boards/divided/divided.ld");
        Files.writeString(script, Files.readString(script).replace(".tvm.dtcm", ".tvm.sram"));
        flow.generate(spec(new ModelSource(GestureProject.MODEL, "gesture"), Map.of("dtcm", "128"))
                .build());
        assertThat(Files.readString(folder.resolve("out/generated-sources/kiln/codegen/host/src/gesture_lib0.c")))
                .containsPattern("dtcm\\[(1[0-2][0-9]|[1-9][0-9])\\]")
                .contains(" sram[");
    }

    @Test
    void halfOfACacheForCodeAndConstantsIsTheKernels() {
        assertThat(constants("b-u585i-iot02a")).isEqualTo(new Reads(7, 16, 4 << 10));
        assertThat(constants("nucleo-l4r5zi")).isEqualTo(new Reads(5, 8, 256));
    }

    private static Reads constants(String board) {
        return BoardPools.of(Boards.builtIn().find(board), Map.of(), 1).spare().constants();
    }

    @Test
    void aLinkerScriptThatForgetsAPoolIsRefused() throws IOException {
        Path script = folder.resolve("src/main/boards/divided/divided.ld");
        Files.writeString(script, Files.readString(script).replace(".rodata.tvm.ext", ".rodata.else"));
        assertThatThrownBy(() -> flow.generate(spec(new ModelSource(GestureProject.MODEL, "gesture"), Map.of())
                        .build()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("no linker script places what lies in ext")
                .hasMessageContaining("*(.rodata.tvm.ext)");
    }

    private SpecDraft spec(ModelSource model, Map<String, String> limits) {
        return SpecDraft.of(new Layout(folder, folder.resolve("out"), "net"), List.of(model), "divided")
                .memory(limits);
    }

    private ElfFile.Section section(String name) {
        return ElfFile.read(folder.resolve("out/net.elf")).sections().stream()
                .filter(section -> section.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** Bytes of what lies in a memory's pool; with workspace I/O the application has the array. */
    private long bytes(String pool, long base) {
        Symbol symbol = ElfFile.read(folder.resolve("out/net.elf")).symbols().stream()
                .filter(each -> each.name().equals(pool) || each.name().equals("kiln_app_workspace_" + pool))
                .findFirst()
                .orElseThrow();
        assertThat(symbol.value()).isBetween(base, base + (2 << 20));
        return symbol.size();
    }

    private JsonNode json(String name) throws IOException {
        return new ObjectMapper()
                .readTree(folder.resolve("out/kiln/" + name + ".json").toFile());
    }
}
