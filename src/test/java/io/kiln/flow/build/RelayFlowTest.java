// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.Log;
import io.kiln.compile.PublishedListing;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.process.TestPrograms;
import io.kiln.reference.NeedsShared;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** All steps for a text that TVM printed, with its parameters beside it. */
final class RelayFlowTest {
    private static final String BOARD = "mps2-an386";

    @TempDir
    Path folder;

    @Test
    @NeedsShared("golden")
    void whatTvmPrintedAnswersBitExactOnAnEmulatedCore() throws IOException {
        build(PublishedListing.write(folder), 4);

        JsonNode verify = json("kiln/verify.json");
        assertThat(verify.path("bitExact").asBoolean()).isTrue();
        assertThat(verify.path("cases")).hasSize(4);
        assertThat(json("kiln/report.json").at("/ram/workspace").asInt())
                .isBetween(1, PublishedListing.TVM_WORKSPACE_BYTES / 2);
    }

    /** As TVM's frontend spells a quantized softmax out: it stays one of floats. */
    @Test
    void aSoftmaxBetweenDequantizeAndQuantizeVerifies() throws IOException {
        Path text = Files.writeString(folder.resolve("softmax.relay"), """
            def @main(%x: Tensor[(20, 10), int8]) {
              %0 = qnn.dequantize(%x, 0.05f, 3);
              %1 = nn.softmax(%0, axis=-1);
              qnn.quantize(%1, 0.00390625f, -128, out_dtype="int8")
            }
            """);

        build(text, 20);

        assertThat(json("kiln/verify.json").path("passed").asBoolean()).isTrue();
    }

    private void build(Path model, int samples) {
        TestPrograms.need("qemu-system-arm");
        TestToolchains.resolve("gnu", Boards.builtIn().find(BOARD).target());
        BuildSpec spec = SpecDraft.of(
                        new Layout(folder, folder.resolve("out"), "kws"), List.of(new ModelSource(model, "kws")), BOARD)
                .toolchain(Optional.of("gnu"))
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), samples, 0))
                .build();
        new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET)).build(spec, DeviceSpec.USUAL);
    }

    private JsonNode json(String file) throws IOException {
        return new ObjectMapper().readTree(folder.resolve("out").resolve(file).toFile());
    }
}
