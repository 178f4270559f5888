// SPDX-License-Identifier: Apache-2.0
package io.kiln.tvm;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.KeptLog;
import io.kiln.base.WholeFiles;
import io.kiln.device.emulator.Emulator;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifyOver;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
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

/** Archives that the real TVM builds here become images that answer what it answers, bit for bit. */
@ParameterizedClass
@MethodSource("io.kiln.tvm.RealTvm#releases")
final class TvmArchivesTest {
    @Parameter
    private RealTvm tvm;

    @TempDir
    private Path folder;

    private final KeptLog log = new KeptLog();
    private final Flow flow = new Flow(log, TestToolchains.environment(log));
    private final List<ModelSource> models = new ArrayList<>();

    private void archive(String name, String kind, String network, int seed) {
        JsonNode built = tvm.answer("archive", Map.of("name", name, "kind", kind, "network", network, "seed", seed));
        built.properties()
                .forEach(file -> WholeFiles.write(
                        folder.resolve(file.getKey()),
                        HexFormat.of().parseHex(file.getValue().asText())));
        models.add(new ModelSource(folder.resolve(name + ".tar"), name));
    }

    /** Kinds of archives: planners of memory, unfused operators, Arm's DSP instructions, packed functions, graphs. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "host | host | plain greedy conflicts climbed unfused | console",
                "mps2-an386 | clang | dsp dspplan | console",
                "host | host | packed packedplan | rpc",
                "host | host | graph linked | rpc"
            })
    void imagesOfThemAnswerWhatTvmAnswers(String board, String toolchain, String kinds, String application)
            throws IOException {
        for (String kind : List.of(kinds.split(" "))) {
            archive(kind + "c", kind, "convolutions", 1);
            archive(kind + "d", kind, "dense", 2);
            archive(kind + "p", kind, "pieces", 3);
        }
        VerifySpec verify = new VerifySpec(VerifyOn.EMULATOR, Optional.of(folder.resolve("vectors")), 2, 0);
        BuildSpec spec = draft(board, toolchain)
                .application(application)
                .verify(application.equals("rpc") ? verify.with(VerifyOver.RPC) : verify)
                .build();
        flow.build(spec, DeviceSpec.USUAL);

        JsonNode report = new ObjectMapper()
                .readTree(folder.resolve("out/kiln/verify.json").toFile());
        assertThat(report.path("bitExact").asBoolean()).isTrue();
        assertThat(report.path("cases")).hasSize(2 * models.size());
    }

    /** Its own session, with its own archive, on Kiln's server. */
    @ParameterizedTest
    @CsvSource({
        "host, host, packed",
        "host, host, graph",
        "mps2-an386, clang, packedplan",
        "mps2-an386, clang, graph",
    })
    void sessionsWithThemAnswerWhatTvmAnswers(String board, String toolchain, String kind) throws IOException {
        archive("default", kind, "convolutions", 4);
        flow.build(
                draft(board, toolchain)
                        .application("rpc")
                        .verify(new VerifySpec(VerifyOn.NONE, Optional.empty(), 0, 0))
                        .build(),
                DeviceSpec.USUAL);
        Path vectors = folder.resolve("vectors/default");
        Map<String, Object> request = new HashMap<>();
        request.put(
                "line",
                Emulator.of(Boards.builtIn().find(board), Duration.ofMinutes(2))
                        .line(folder.resolve("out/net.elf"), List.of()));
        request.put("inputs", List.of(vectors.resolve("input_0.bin")));
        if (kind.equals("graph")) {
            Path generated = folder.resolve("out/generated-sources/kiln");
            request.put("graph", generated.resolve("executor-config/graph/default.graph"));
            request.put("params", generated.resolve("parameters/default.params"));
            request.put("names", List.of("data"));
        }
        for (String session : kind.equals("graph") ? List.of("graph", "debug") : List.of("aot")) {
            request.put("kind", session);
            assertThat(tvm.ask("session", request).path("outputs").get(0).asText())
                    .isEqualTo(HexFormat.of().formatHex(Files.readAllBytes(vectors.resolve("output_0.bin"))));
        }
    }

    private SpecDraft draft(String board, String toolchain) {
        return SpecDraft.of(new Layout(folder, folder.resolve("out"), "net"), models, board)
                .toolchain(Optional.of(toolchain));
    }
}
