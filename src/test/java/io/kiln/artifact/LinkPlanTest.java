// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LinkPlanTest {
    @Test
    void metadataComesFirstThenNativeCodeThenTheOthersByName() {
        ArtifactSet set = ArtifactSet.of(
                List.of(
                        artifact("zpu", "a.bin", "host"),
                        artifact("cuda", "a.data", "host"),
                        artifact("cuda", "a.fmt", "host"),
                        artifact("native", "a.c", "host"),
                        artifact("native", "b.c", "host"),
                        artifact("native", "a.o", "dsp"),
                        artifact("metadata", "a.json", "host"),
                        artifact("relay", "a.relay", "host")),
                Map.of("host", "c", "dsp", "c"));
        assertThat(LinkPlan.of(List.of(set)).groups())
                .containsExactly(
                        new LinkPlan.Group("metadata", "host", "copied", 1, 6),
                        new LinkPlan.Group("native", "dsp", "linked", 1, 3),
                        new LinkPlan.Group("native", "host", "compiled", 2, 6),
                        new LinkPlan.Group("cuda", "host", "copied", 2, 11),
                        new LinkPlan.Group("relay", "host", "left-out", 1, 7),
                        new LinkPlan.Group("zpu", "host", "copied", 1, 5));
    }

    private static Artifact artifact(String loader, String file, String key) {
        return new Artifact("c", loader, file, Bytes.ofText(file), key);
    }
}
