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
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The loops of one operator, kept under review: {@code -Dgolden.update=true} writes them anew, for the diff. */
class IrDumpTest {
    private static final Path GOLDEN = Path.of("src", "test", "resources", "io", "kiln", "flow", "pool_lower.tir");
    private static final String MODEL = """
        def @main(%x: Tensor[(1, 6, 6, 3), int8]) {
          %0 = nn.max_pool2d(%x, pool_size=[3, 3], strides=[2, 2], dilation=[1, 1], padding=[1, 1, 0, 0], layout="NHWC");
          %0
        }
        """;

    @Test
    void theLoopsOfOneOperatorAreAsReviewed() throws IOException {
        CompileRequest request = new CompileRequest(
                Path.of("pool.relay"), "pool", "c -keys=arm_cpu,cpu -mcpu=cortex-m4", Io.CALLER, Optimize.SPEED);
        CompiledModel model = ModelCompiler.compile(
                request,
                RelayFrontend.read(Bytes.ofText(MODEL), "pool.relay", Optional.empty(), "pool.params", "pool"));
        String loops = IrDump.loops(model.module());
        if (Boolean.getBoolean("golden.update")) {
            Files.writeString(GOLDEN, loops);
        }
        assertThat(loops).isEqualTo(Files.readString(GOLDEN));
    }
}
