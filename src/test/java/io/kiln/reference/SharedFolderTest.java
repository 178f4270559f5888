// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

class SharedFolderTest {
    private static final List<String> NAMES = List.of("golden", "tvm");

    @TempDir
    private Path folder;

    @Test
    void testsRunWhereTheirFoldersAre() throws IOException {
        Files.createDirectory(folder.resolve("golden"));
        Files.createDirectory(folder.resolve("tvm"));
        assertThat(SharedFolderCondition.evaluate(folder, NAMES, true).isDisabled())
                .isFalse();
    }

    @Test
    void withoutTheSharedFolderTestsAreSkipped() {
        Path none = folder.resolve("none");
        for (boolean isBuildServer : List.of(true, false)) {
            assertThat(SharedFolderCondition.evaluate(none, NAMES, isBuildServer))
                    .satisfies(result -> assertThat(result.isDisabled()).isTrue())
                    .satisfies(result -> assertThat(result.getReason())
                            .contains(SharedFolder.SKIPPED
                                    + NAMES.stream().map(none::resolve).toList() + "."));
        }
    }

    @Test
    void onABuildServerTheSharedFolderIsWhole() throws IOException {
        Files.createDirectory(folder.resolve("golden"));
        assertThatThrownBy(() -> SharedFolderCondition.evaluate(folder, NAMES, true))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("[" + folder.resolve("tvm") + "] is missing");
        assertThat(SharedFolderCondition.evaluate(folder, NAMES, false).isDisabled())
                .isTrue();
    }

    /** An exception that skips would end a test without a word where an exception is expected. */
    @Test
    void whoDoesNotSayThatItNeedsTheFolderFails() {
        assertThatThrownBy(() -> SharedFolder.need("none"))
                .isInstanceOf(AssertionError.class)
                .isNotInstanceOf(TestAbortedException.class)
                .hasMessageContaining("@NeedsShared(\"none\")");
    }
}
