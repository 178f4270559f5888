// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.maven.plugin.logging.SystemStreamLog;
import org.junit.jupiter.api.Test;

class MojoLogTest {
    /** What {@code mvn -q} leaves: what a user asked for, once and bare. */
    @Test
    void aQuietBuildPrintsWhatWasAskedForAndNothingElse() {
        MojoLog quiet = new MojoLog(new SystemStreamLog() {
            @Override
            public boolean isInfoEnabled() {
                return false;
            }

            @Override
            public void info(CharSequence line) {
                // As Maven's own log does.
            }
        });
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream usual = System.out;
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            quiet.info("Board mps2-an386");
            quiet.answer("mps2-an386  Cortex-M4\u001b[2J");
        } finally {
            System.setOut(usual);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8).lines())
                .singleElement()
                .asString()
                .startsWith("mps2-an386  Cortex-M4")
                .doesNotContain("\u001b");
    }
}
