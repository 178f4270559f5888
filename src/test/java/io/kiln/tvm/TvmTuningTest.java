// SPDX-License-Identifier: Apache-2.0
package io.kiln.tvm;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Log;
import io.kiln.flow.projectapi.TemplateStep;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.reference.OwnModel;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.File;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** AutoTVM of the real TVM tunes with projects that Kiln's Project API server generates, builds and runs. */
@ParameterizedClass
@MethodSource("io.kiln.tvm.RealTvm#releases")
final class TvmTuningTest {
    private static final boolean IS_NIGHTLY =
            System.getProperty("kiln.golden", "").equals("all");

    /** Configurations that are measured: an image for each of them is built and run. */
    private static final int TRIALS = IS_NIGHTLY ? 4 : 2;

    @Parameter
    private RealTvm tvm;

    @TempDir
    private Path folder;

    /** This computer, whose compiler is the fastest to build with; {@code nightly} an emulator too. */
    static Stream<String> boards() {
        return IS_NIGHTLY ? Stream.of("host", "mps2-an386") : Stream.of("host");
    }

    @ParameterizedTest
    @MethodSource("boards")
    void itsTunerMeasuresAndItsBestConfigurationAnswersWhatTvmAnswers(String board) {
        Path template = folder.resolve("template");
        List<Path> classPath = Arrays.stream(
                        System.getProperty("java.class.path").split(File.pathSeparator))
                .map(Path::of)
                .map(Path::toAbsolutePath)
                .toList();
        Layout layout = new Layout(folder, folder.resolve("out"), "net");
        new TemplateStep(Log.QUIET, TestToolchains.environment(Log.QUIET))
                .write(
                        SpecDraft.of(layout, List.of(new ModelSource(OwnModel.SINE.model(), "net")), board)
                                .build(),
                        template,
                        classPath);

        JsonNode tuned =
                tvm.ask("tune", Map.of("folder", folder, "template", template, "board", board, "trials", TRIALS));
        JsonNode records = tuned.path("records");
        assertThat(records).hasSize(TRIALS).allSatisfy(record -> {
            assertThat(record.at("/result/1").asInt()).as(record.toString()).isZero();
            assertThat(record.at("/result/0/0").asDouble()).isGreaterThan(0).isLessThan(1);
        });
        assertThat(records.findValuesAsText("index")).doesNotHaveDuplicates();
        assertThat(tuned.path("chosen")).isEqualTo(tuned.path("best"));
        assertThat(tuned.path("differs").asBoolean()).isTrue();
        assertThat(tuned.path("outputs")).isEqualTo(tuned.path("expected")).hasSize(1);
    }
}
