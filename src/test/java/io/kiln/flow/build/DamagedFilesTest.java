// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Digests;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What Kiln keeps between builds, after a power failure or somebody's hand: the next build makes it anew. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class DamagedFilesTest {
    private static final String INDEX = "state/library.json";
    private static final List<UnaryOperator<byte[]>> DAMAGES = List.of(
            content -> text("input\ta\nboard\n..\n\n/\n../../x\n"),
            content -> new byte[content.length],
            content -> text("{\"format\":2,\"entries\":{\"a\":null,\"app/main.c\":{\"inputs\":{\"\\u0000\":3}}}}"),
            content -> text("null"),
            content -> text("output\ta\0b\tc\n"),
            content -> text("{\"models\":[]}"),
            content -> new byte[0],
            content -> Arrays.copyOf(content, content.length / 2),
            content -> text("[null]"),
            content -> text("{}"));

    @TempDir
    private static Path folder;

    private Flow flow;
    private Map<String, byte[]> right;

    @BeforeAll
    void build() throws IOException {
        TestToolchains.resolve("gnu", Boards.builtIn().find("mps2-an386").target());
        flow = new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET));
        flow.build(spec(), DeviceSpec.USUAL);
        right = kept();
        assertThat(right.keySet()).contains("report.json", INDEX, "state/generate.json");
    }

    /** Each file in another way, and in yet another one in the second round. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void theNextBuildMakesThemAnew(int round) throws IOException {
        List<UnaryOperator<byte[]>> damages = new ArrayList<>(DAMAGES);
        Collections.rotate(damages, round * right.size());
        int next = 0;
        for (Map.Entry<String, byte[]> file : right.entrySet()) {
            Files.write(reports().resolve(file.getKey()), damages.get(next++).apply(file.getValue()));
        }
        Files.write(reports().resolve(FirmwareSteps.PROFILE), text("{\"board\":"));
        flow.build(spec(), DeviceSpec.USUAL);
        Map<String, byte[]> now = kept();
        right.forEach((name, content) ->
                assertThat(Digests.sha256(now.get(name))).as(name).isEqualTo(Digests.sha256(content)));
    }

    @Test
    void aGoalByItselfSaysWhatIsWrong() throws IOException {
        Path models = reports().resolve(INDEX);
        for (UnaryOperator<byte[]> damage : DAMAGES) {
            Files.write(models, damage.apply(right.get(INDEX)));
            assertThatThrownBy(() -> flow.assemble(spec()))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("library.json: cannot be read")
                    .hasMessageContaining("Run the build again from its start");
        }
    }

    private Path reports() {
        return folder.resolve("out/kiln");
    }

    /** What steps remember and write for others; objects have digests of their own. */
    private Map<String, byte[]> kept() throws IOException {
        Map<String, byte[]> files = new TreeMap<>();
        try (Stream<Path> walk = Files.walk(reports())) {
            for (Path file : walk.filter(Files::isRegularFile).toList()) {
                String name = reports().relativize(file).toString().replace('\\', '/');
                if (name.matches(".*\\.(json|txt)") && !name.equals(FirmwareSteps.PROFILE)) {
                    files.put(name, Files.readAllBytes(file));
                }
            }
        }
        return files;
    }

    private BuildSpec spec() {
        return new GestureProject(folder).gnu("mps2-an386");
    }

    private static byte[] text(String content) {
        return content.getBytes(StandardCharsets.UTF_8);
    }
}
