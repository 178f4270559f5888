// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.WholeFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The ONNX project's tests, through import, interpreter and generated C; {@code -Dkiln.onnx=all} compiles all of them. {@code -Dkiln.onnx.tests=test_add}
 * chooses those of a name; the outcome of each is listed in {@code target/onnx-<part>.txt}.
 */
class OnnxNodeTest {
    private static final boolean COMPILES = Boolean.parseBoolean(System.getProperty("kiln.onnx.compile", "true"));

    /** Everything through generated C; otherwise every fifth test, since compiling C takes most of the time. */
    private static final boolean ALL = System.getProperty("kiln.onnx", "").equals("all");

    private static final String NAMES = System.getProperty("kiln.onnx.tests", "");

    @TempDir
    private Path folder;

    @Test
    void noOperatorAnswersWrongly() {
        List<Outcome> outcomes = sweep("node");
        assertThat(lines(outcomes, Outcome.Kind.WRONG)).isEmpty();
        String part = OnnxPage.part(outcomes);
        if (Boolean.getBoolean("kiln.onnx.write")) {
            OnnxPage.write(part);
        }
        if (NAMES.isEmpty()) {
            assertThat(OnnxPage.stated()).isEqualTo(part);
        }
    }

    @ParameterizedTest
    @CsvSource({"pytorch-converted, 82", "pytorch-operator, 35", "simple, 7"})
    void theOtherTestsAnswerAsTheyShould(String part, int passed) {
        List<Outcome> outcomes = sweep(part);
        assertThat(lines(outcomes, Outcome.Kind.WRONG)).isEmpty();
        if (NAMES.isEmpty()) {
            assertThat(lines(outcomes, Outcome.Kind.PASSED)).hasSize(passed);
        }
    }

    private List<Outcome> sweep(String part) {
        List<Outcome> outcomes = new ArrayList<>();
        for (NodeTest test : NodeTest.all(part)) {
            if (test.name().contains(NAMES)) {
                outcomes.add(Outcome.of(test, "node" + outcomes.size()));
            }
        }
        if (COMPILES) {
            outcomes = new HostSweep(folder.resolve(part))
                    .check(
                            outcomes,
                            o -> ALL || o.function().orElseThrow().name().matches("node\\d*[05]"));
        }
        String lines = outcomes.stream().map(Outcome::line).collect(Collectors.joining("\n"));
        WholeFiles.write(
                Path.of("target", "onnx-" + part + ".txt"), lines.getBytes(java.nio.charset.StandardCharsets.UTF_8));
        return outcomes;
    }

    private static List<String> lines(List<Outcome> outcomes, Outcome.Kind kind) {
        return outcomes.stream()
                .filter(o -> o.kind() == kind)
                .map(Outcome::line)
                .toList();
    }
}
