// SPDX-License-Identifier: Apache-2.0
package io.kiln.tvm;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.artifact.ExecutorKind;
import io.kiln.base.KeptLog;
import io.kiln.compile.CallOptions;
import io.kiln.device.emulator.Emulator;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.reference.OwnModel;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The real {@code tvm.micro.Session} of TVM talks to images that Kiln built. */
@ParameterizedClass
@MethodSource("io.kiln.tvm.RealTvm#releases")
final class TvmSessionsTest {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final OwnModel MODEL = OwnModel.KEYWORDS;

    @Parameter
    private RealTvm tvm;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"host, host", "mps2-an386, clang"})
    void aheadOfTime(String board, String toolchain) throws IOException {
        build(board, toolchain, CallOptions.of("packed", false, Optional.empty(), false));
        JsonNode answer = tvm.ask("session", session(board, "aot"));
        assertThat(answer.path("outputs").get(0).asText()).isEqualTo(expected());
        assertThat(answer.path("inputs").asInt()).isEqualTo(1);
        assertThat(answer.path("seconds")).hasSize(2).allMatch(seconds -> seconds.asDouble() > 0);
    }

    @ParameterizedTest
    @CsvSource({"host, host, false", "mps2-an386, clang, true"})
    void graph(String board, String toolchain, boolean linked) throws IOException {
        build(board, toolchain, CallOptions.TYPED.with(ExecutorKind.GRAPH, linked));
        Path generated = folder.resolve("out/generated-sources/kiln");
        for (String kind : List.of("graph", "debug")) {
            Map<String, Object> request = session(board, kind);
            request.put("graph", generated.resolve("executor-config/graph/default.graph"));
            request.put("params", generated.resolve("parameters/default.params"));
            request.put("names", List.of(MODEL.read().params().get(0).name()));
            JsonNode answer = tvm.ask("session", request);
            assertThat(answer.path("outputs").get(0).asText()).as(kind).isEqualTo(expected());
            if (kind.equals("debug")) {
                assertThat(answer.path("timed").asInt())
                        .isEqualTo(answer.path("operators").asInt())
                        .isGreaterThan(10);
            }
        }
    }

    private void build(String board, String toolchain, CallOptions calls) {
        KeptLog log = new KeptLog();
        Layout layout = new Layout(folder, folder.resolve("out"), "net");
        new Flow(log, TestToolchains.environment(log))
                .build(
                        SpecDraft.of(layout, List.of(new ModelSource(MODEL.model(), "default")), board)
                                .toolchain(Optional.of(toolchain))
                                .application("rpc")
                                .calls(calls)
                                .verify(new VerifySpec(VerifyOn.NONE, Optional.empty(), 0, 0))
                                .build(),
                        DeviceSpec.USUAL);
    }

    private Map<String, Object> session(String board, String kind) {
        Emulator emulator = Emulator.of(Boards.builtIn().find(board), LIMIT);
        Map<String, Object> request = new HashMap<>();
        request.put("line", emulator.line(folder.resolve("out/net.elf"), List.of()));
        request.put("kind", kind);
        request.put("inputs", List.of(MODEL.folder().resolve("input_0.bin")));
        return request;
    }

    private static String expected() throws IOException {
        return HexFormat.of().formatHex(Files.readAllBytes(MODEL.folder().resolve("output_0.bin")));
    }
}
