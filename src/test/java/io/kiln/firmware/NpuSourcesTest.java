// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.tflite.VelaModel;
import io.kiln.mlf.ModelLibraryFormat;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which images get the hooks around an NPU's driver, and the model of the NPU. */
class NpuSourcesTest {
    private static final String HOOKS = "board/kiln_npu.c";
    private static final String MODEL = "npu/ethosu_driver.c";

    @TempDir
    private Path folder;

    /** An image without a part for the NPU consists of the same files on a board with an NPU as on one without. */
    @Test
    void imagesWithoutPartsForAnNpuGrowByNothing() {
        ModelLibrary plain = TestFirmware.model("default", 10);
        assertThat(paths("virtual-corstone-300", plain)).isEqualTo(paths("mps3-an547", plain));
        assertThat(sections("virtual-corstone-300", plain)).isEqualTo(sections("mps3-an547", plain));
    }

    @Test
    void imagesWithPartsGetHooksAndModel() {
        assertThat(paths("virtual-corstone-300", parts(VelaModel.U55_128))).contains(HOOKS, MODEL);
        assertThat(paths("mps3-an547", parts(VelaModel.U55_128))).doesNotContain(HOOKS, MODEL);
    }

    /** Files for a U85 become firmware, with commands that U55 and U65 lack, but nothing here can tell what they compute. */
    @Test
    void aU85IsForBoardsAlone() {
        ModelLibrary parts = parts(VelaModel.U85_256);
        assertThat(parts.artifacts().artifacts()).anyMatch(file -> file.loader().equals("ethos-u"));
        assertThatThrownBy(() -> paths("virtual-corstone-300", parts))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("there is no model of an ethos-u85-256");
    }

    /** The archive keeps the streams, so that firmware built from it, where there is no compiler of models, is the same. */
    @Test
    void anArchiveBringsItsPartsAlong() {
        List<ModelLibrary> read = ModelLibraryFormat.read(archive(parts(VelaModel.U55_256)));
        assertThat(paths("virtual-corstone-300", read.get(0))).contains(HOOKS, MODEL);
    }

    private Path archive(ModelLibrary library) {
        Path file = folder.resolve("m.tar");
        Bytes content =
                ModelLibraryFormat.write(List.of(library), ModelLibraryFormat.Options.of(7, Optional.empty(), "0.1.0"));
        WholeFiles.write(file, content.toArray());
        return file;
    }

    private ModelLibrary parts(int configuration) {
        Path file = folder.resolve("mixed.tflite");
        WholeFiles.write(file, VelaModel.mixed(configuration).build());
        return ModelCompiler.compile(
                        RequestDraft.of(file, "ethos-u, c -mcpu=cortex-m55").build())
                .library();
    }

    /** Sizes of what an image has in memory. */
    private Map<String, Long> sections(String board, ModelLibrary model) {
        FirmwareRequest request = TestFirmware.request(
                TestFirmware.board(board), "clang", Optimize.SPEED, List.of(model), folder.resolve(board));
        Map<String, Long> sizes = new TreeMap<>();
        ElfFile.read(TestFirmware.build(request, folder.resolve(board), Log.QUIET)
                        .elf())
                .sections()
                .forEach(section -> sizes.put(section.name(), section.isAllocated() ? section.size() : 0L));
        return sizes;
    }

    private List<String> paths(String board, ModelLibrary model) {
        FirmwareRequest request = TestFirmware.request(
                TestFirmware.board(board), "clang", Optimize.SPEED, List.of(model), folder.resolve(board));
        return FirmwareAssembler.assemble(request, Log.QUIET).units().stream()
                .map(SourceUnit::path)
                .toList();
    }
}
