// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.ArtifactSet;
import io.kiln.base.Bytes;
import io.kiln.base.elf.ElfFile;
import io.kiln.module.ModuleExport.BlobSource;
import io.kiln.module.ModuleTree.LinkedCode;
import io.kiln.module.ModuleTree.ModuleNode;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SharedLibraryTest {
    private static final ModuleLoaders LOADERS = ModuleLoaders.installed();

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"-m64", "-m32"})
    void aDeviceModuleSurvivesALibraryAlthoughThereIsNoSuchDevice(String bits) throws IOException {
        DeviceModule cuda = new DeviceModule(
                "ptx",
                Map.of("add", new DeviceModule.FunctionInfo("add", List.of(0x014003), List.of("blockIdx.x"))),
                Bytes.ofText(".version 7"));
        ModuleTree tree = ModuleExport.tree(List.of(
                new ModuleNode("c", new LinkedCode(List.of("f")), List.of(1)),
                new ModuleNode("cuda", cuda, List.of())));
        Path file = library(BlobSource.of(ModuleBlob.write(tree)), bits);
        assertThat(SharedLibrary.isLibrary(ElfFile.read(file))).isTrue();
        SharedLibrary library = SharedLibrary.read(file, LOADERS);
        assertThat(library.functions()).containsExactly("f");
        assertThat(library.tree()).isEqualTo(tree);
        assertThat(ModuleBlob.write(library.tree())).isEqualTo(ModuleBlob.write(tree));
        assertThat(library.blobBytes()).isEqualTo(ModuleBlob.write(tree).size());
    }

    @Test
    void aLibraryWithoutBlobIsTheOnlyModule() throws IOException {
        Path file = library("void* __tvm_module_ctx = 0;\n", "-m64");
        assertThat(SharedLibrary.read(file, LOADERS))
                .isEqualTo(new SharedLibrary(
                        ModuleTree.ofLibrary(List.of("f")), List.of("f"), new ArtifactSet(List.of()), 0));
    }

    @Test
    void aBlobThatStatesTooManyBytesIsRefused() throws IOException {
        String blob = BlobSource.of(Bytes.wrap(ByteBuffer.allocate(8)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(1L << 40)
                .array()));
        Path file = library(blob, "-m64");
        assertThatThrownBy(() -> SharedLibrary.read(file, LOADERS))
                .hasMessageContaining("lib.so: `__tvm_dev_mblob` at address 0x")
                .hasMessageContaining("does not lie in the file");
    }

    private Path library(String blob, String bits) throws IOException {
        Files.writeString(folder.resolve("devc.c"), blob);
        Files.writeString(folder.resolve("f.c"), "int f(void);\nint f(void) { return 1; }\n");
        List<String> line =
                new ArrayList<>(List.of(bits, "-shared", "-fPIC", "-nostdlib", "-o", "lib.so", "devc.c", "f.c"));
        ProcessResult result = ProcessRunner.run(Command.of("cc", line).in(folder));
        assertThat(result.exitCode()).as(result.message()).isZero();
        return folder.resolve("lib.so");
    }
}
