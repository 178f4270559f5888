// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.toolchain.compiler.ToolchainEnvironment.ArtifactFetcher;
import org.junit.jupiter.api.Test;

final class BudgetsTest {
    @Test
    void aReleaseWithoutAReportSaysHowItGetsOne() {
        ArtifactFetcher nothing = (group, artifact, version, classifier, extension) -> {
            throw new KilnException(
                    Failure.TOOL.problem("cannot be fetched: absent", "there", "", "Choose a compiler"));
        };
        assertThatThrownBy(() -> Budgets.report("com.example:sensor:1.0.0", nothing))
                .hasMessage("the report of com.example:sensor:1.0.0: cannot be fetched: absent; expected a version that"
                        + " was built and deployed with -Dkiln.attachReports. Build that version so, or name its"
                        + " report.json instead of its coordinates.");
    }
}
