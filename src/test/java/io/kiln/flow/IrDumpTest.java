// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.frontend.relay.RelayFrontend;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The loops of one operator, kept under review: {@code -Dgolden.update=true} writes them anew, for the diff. */
class IrDumpTest {
    private static final Path GOLDEN = Path.of("src", "test", "resources", "io", "kiln", "flow", "pool_lower.tir");
    private static final String MODEL = """
        def @main(%x: Tensor[(1, 6, 6, 3), int8]) {
          %0 = nn.max_pool2d(%x, pool_size=[3, 3], strides=[2, 2], dilation=[1, 1], padding=[1, 1, 0, 0], layout="NHWC");
          %0
        }
        """;

    static final String CALLING = """
        def @main(%c: bool, %x: float32) {
          %y = ref(0f);
          %0 = tfl.if(%c, %x, %y, then=@twice, otherwise=@same, inputs=1, results=1, then_variables=[], otherwise_variables=[]);
          %y
        }
        def @twice(%x: float32) { add(%x, %x) }
        def @same(%x: float32) { copy(%x) }
        """;

    @TempDir
    private Path folder;

    static CompiledModel compile(String name, String text) {
        CompileRequest request = new CompileRequest(
                Path.of(name + ".relay"), name, "c -keys=arm_cpu,cpu -mcpu=cortex-m4", Io.CALLER, Optimize.SPEED);
        return ModelCompiler.compile(
                request,
                RelayFrontend.read(Bytes.ofText(text), name + ".relay", Optional.empty(), name + ".params", name));
    }

    @Test
    void whatOperatorsCallIsDumpedToo() throws IOException {
        List<Path> files = IrDump.write(compile("choice", CALLING), folder);
        assertThat(files).hasSize(8);
        assertThat(Files.readString(folder.resolve("06-fuse-operators.relay")))
                .contains("then=@twice, otherwise=@same", "def @twice(%x: float32", "// fused_add: %0");
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
        CompiledModel model = compile("pool", MODEL);
        String loops = IrDump.loops(model.module());
        if (Boolean.getBoolean("golden.update")) {
            Files.writeString(GOLDEN, loops);
        }
        assertThat(loops).isEqualTo(Files.readString(GOLDEN));
    }
}
