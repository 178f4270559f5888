// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.frontend.relay.RelayFrontend;
import io.kiln.ir.Function;
import io.kiln.target.MemoryPool;
import io.kiln.target.TargetKind;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What can be asked of the compiler, and what is refused before it begins. */
class CompileRequestTest {
    private static final Path MODEL = Path.of("m.relay");
    private static final String TARGET = "c -mcpu=cortex-m4";

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "llvm -mcpu=cortex-m4|targets of kind `llvm` cannot be generated: there is no compiler that makes objects",
                "cmsis-nn -mcpu=cortex-m55|targets of kind `cmsis-nn`"
            })
    void aTargetNeedsACodeGenerator(String text, String message) {
        RequestDraft request = RequestDraft.of(MODEL, text);
        assertThatThrownBy(request::build)
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(message)
                .hasMessageContaining("egin the target with c: c -keys=arm_cpu,cpu -mcpu=cortex-m");
        assertThat(RequestDraft.of(MODEL, TARGET).build().target().host().kind())
                .isEqualTo(TargetKind.C);
    }

    @Test
    void everythingWrongIsSaidAtOnce() {
        RequestDraft request = RequestDraft.of(MODEL, "llvm -mcpu=cortex-m4")
                .name("two words")
                .pools(List.of(MemoryPool.GLOBAL_WORKSPACE, new MemoryPool("sram2", 16)));
        assertThatThrownBy(request::build)
                .isInstanceOfSatisfying(
                        KilnException.class, e -> assertThat(e.problems()).hasSize(3))
                .hasMessageContaining("the model name `two words` cannot be part of a C name")
                .hasMessageContaining("the memory pool `global_workspace` of the workspace has no limit");
    }

    @Test
    void theWorkspaceLiesInTheGivenPool() {
        RequestDraft request = RequestDraft.of(MODEL, TARGET).name("m").pools(List.of(new MemoryPool("fast_ram", 64)));

        assertThat(sources(request.io(Io.CALLER).build()))
                .contains("static uint8_t fast_ram[TVMGEN_M_WORKSPACE_SIZE]"
                        + " __attribute__((section(\".bss.noinit.tvm\"), aligned(64)));")
                .doesNotContain("global_workspace");
        assertThat(sources(request.io(Io.WORKSPACE).build()))
                .contains(
                        "  void* fast_ram;",
                        "#define TVMGEN_M_FAST_RAM_WORKSPACE_POOL_SIZE ",
                        "if (((uintptr_t)workspace_pools->fast_ram & 63u) != 0u)")
                .doesNotContain("global_workspace");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "SRAM", "2nd", "a b", "é"})
    void poolsHaveNamesOfC(String name) {
        assertThatThrownBy(() -> new MemoryPool(name, 16)).isInstanceOf(KilnException.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {-16, 0, 8, 24, 512})
    void poolsAreAlignedForVectorLoads(int alignment) {
        assertThatThrownBy(() -> new MemoryPool("sram", alignment))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("a power of two from 16 to 256");
    }

    private static String sources(CompileRequest request) {
        ModelLibrary library = ModelCompiler.compile(request, function()).library();
        assertThat(library.metadata().workspaceAlignment()).isEqualTo(64);
        return library.artifacts().artifacts().stream()
                .filter(file -> file.kind() == ArtifactKind.SOURCE || file.kind() == ArtifactKind.HEADER)
                .map(Artifact::text)
                .collect(Collectors.joining());
    }

    /** Two operators, so that there is a value between them. */
    private static Function function() {
        String text = """
                def @main(%x: Tensor[(1, 6, 6, 3), int8]) {
                  %0 = nn.max_pool2d(%x, pool_size=[3, 3], strides=[1, 1], dilation=[1, 1], padding=[1, 1, 1, 1], layout="NHWC");
                  %1 = nn.max_pool2d(%0, pool_size=[3, 3], strides=[2, 2], dilation=[1, 1], padding=[1, 1, 0, 0], layout="NHWC");
                  %1
                }
                """;
        return RelayFrontend.read(Bytes.ofText(text), "m.relay", Optional.empty(), "m.params", "m");
    }
}
