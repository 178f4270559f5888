// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The loops of one operator, kept under review: {@code -Dgolden.update=true} writes them anew, for the diff. */
class IrDumpTest {
    private static final Path GOLDEN = Path.of("src", "test", "resources", "io", "kiln", "compile", "pool_lower.tir");
    private static final String MODEL = """
        def @main(%x: Tensor[(1, 6, 6, 3), int8]) {
          %0 = nn.max_pool2d(%x, pool_size=[3, 3], strides=[2, 2], dilation=[1, 1], padding=[1, 1, 0, 0], layout="NHWC");
          %0
        }
        """;

    @TempDir
    private Path folder;

    @Test
    void whatOperatorsCallIsDumpedToo() throws IOException {
        List<Path> files = IrDump.write(CompiledText.of("choice", CompiledText.CALLING), folder);
        assertThat(files).hasSize(8);
        assertThat(Files.readString(folder.resolve("06-fuse-operators.relay")))
                .contains("then=@twice, otherwise=@same", "def @twice(%x: float32", "// fused_add: %1");
        assertThat(Files.readString(folder.resolve("07-lower.tir")))
                .containsSubsequence(
                        "// schedule flat: ",
                        "def tvmgen_choice_0_fused_add(",
                        "def tvmgen_choice_0___tvm_main__(",
                        "def tvmgen_choice_fused_tfl_if(",
                        "if input0[0] {",
                        "def tvmgen_choice___tvm_main__(");
    }

    @Test
    void theLoopsOfOneOperatorAreAsReviewed() throws IOException {
        CompiledModel model = CompiledText.of("pool", MODEL);
        String loops = IrDump.loops(model);
        if (Boolean.getBoolean("golden.update")) {
            Files.writeString(GOLDEN, loops);
        }
        assertThat(loops).isEqualTo(Files.readString(GOLDEN));
    }
}
