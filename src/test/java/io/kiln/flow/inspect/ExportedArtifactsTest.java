// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactSet;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.SpecDraft;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code kiln:inspect} of exported artifacts, also of devices whose payloads no inspector knows. */
class ExportedArtifactsTest {
    private static final Artifact COMMANDS =
            new Artifact("my-npu", "npu", "m.bin", Bytes.wrap(new byte[] {1, 0, 2}), "npu");
    private static final Artifact SOURCE =
            new Artifact("c", Artifact.NATIVE, "m.c", Bytes.ofText("int m;\n"), Artifact.HOST);

    @TempDir
    private Path folder;

    @Test
    void aSetIsListedWithItsTargets() throws IOException {
        Bytes set = new ArtifactSet(
                        List.of(COMMANDS, SOURCE),
                        new TreeMap<>(Map.of("npu", "my-npu -lanes=8", Artifact.HOST, "c -mcpu=cortex-m4")))
                .export();
        assertThat(lines(set))
                .containsExactly(
                        "Artifacts of " + file() + ": 2",
                        "  target host: c -mcpu=cortex-m4",
                        "  target npu: my-npu -lanes=8",
                        "  host/native/m.c: 7 bytes of code generator c",
                        "  npu/npu/m.bin: 3 bytes of code generator my-npu");
        assertThat(Inspector.lines(file(), "?")).contains("list-functions (artifact)");
    }

    @Test
    void anArtifactAloneIsListed() throws IOException {
        assertThat(lines(COMMANDS.export()))
                .containsExactly("Artifacts of " + file() + ": 1", "  npu/npu/m.bin: 3 bytes of code generator my-npu");
        assertThat(Inspector.lines(file(), "?")).containsExactly("no inspector knows these artifacts");
    }

    @Test
    void whatIsDamagedIsNamedWithItsOffset() {
        byte[] cut = COMMANDS.export().toArray();
        assertThatThrownBy(() -> lines(Bytes.wrap(Arrays.copyOf(cut, cut.length - 3))))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("m.kiln, offset 0x");
    }

    private List<String> lines(Bytes content) throws IOException {
        Files.write(file(), content.toArray());
        BuildSpec spec = SpecDraft.of(new Layout(folder, folder.resolve("out"), "net"), List.of(), "host")
                .build();
        return new Inspector(spec, GivenInputs.NONE).lines(Optional.of(file()));
    }

    private Path file() {
        return folder.resolve("m.kiln");
    }
}
