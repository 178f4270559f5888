// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

class SharedFolderTest {
    @TempDir
    private Path folder;

    @Test
    void whatIsThereIsGiven() throws IOException {
        Path golden = Files.createDirectory(folder.resolve("golden"));
        assertThat(SharedFolder.need(folder, "golden", true)).isEqualTo(golden);
    }

    @Test
    void aProjectAloneSkipsOnABuildServerToo() {
        assertThatThrownBy(() -> SharedFolder.need(folder.resolve("shared"), "golden", true))
                .isInstanceOf(TestAbortedException.class)
                .hasMessageContaining("golden");
    }

    @Test
    void whatIsMissingInAFolderThatIsThereFailsOnABuildServer() {
        assertThatThrownBy(() -> SharedFolder.need(folder, "golden", true))
                .isInstanceOf(AssertionFailedError.class)
                .hasMessageContaining("golden is missing");
        assertThatThrownBy(() -> SharedFolder.need(folder, "golden", false)).isInstanceOf(TestAbortedException.class);
    }
}
