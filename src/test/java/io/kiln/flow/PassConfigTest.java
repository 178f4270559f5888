// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Problem;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.PassConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PassConfigTest {
    private static final Layout LAYOUT = new Layout(Path.of("."), Path.of("out"), "model");

    @Test
    void namesOfTvmSetWhatTheyStandFor() {
        BuildSpec spec = BuildSpec.builder(LAYOUT, List.of(), "host")
                .calls(Optional.of("packed"), false, Optional.empty(), false)
                .executor("graph", true)
                .passConfig(List.of(
                        "relay.FuseOps.max_depth=3",
                        "relay.FuseOps.link_params=0",
                        "tir.disable_assert = true",
                        "tir.usmp.use_workspace_io=1",
                        "tir.usmp.enable=True",
                        "tir.usmp.algorithm=greedy_by_size",
                        "tir.disable_vectorize=1",
                        "tir.disable_storage_rewrite=true",
                        "relay.backend.disable_memory_plan=false"))
                .build();
        assertThat(spec.malformed()).isEmpty();
        assertThat(spec.pipeline().options().maxFusionDepth()).isEqualTo(3);
        assertThat(spec.calls().linkParams()).isFalse();
        assertThat(spec.calls().disableAssert()).isTrue();
        assertThat(spec.io().text()).isEqualTo("workspace");
    }

    @Test
    void whatIsNotSetStays() {
        BuildSpec spec = BuildSpec.builder(LAYOUT, List.of(), "host").build();
        assertThat(spec.toBuilder().passConfig(List.of()).build()).isEqualTo(spec);
    }

    @Test
    void allThatCannotBeFollowedIsRefusedAtOnce() {
        assertThatThrownBy(() -> PassConfig.parse(List.of(
                        "relay.FuseOps.maxdepth=1",
                        "tir.usmp.algorithm=genetic",
                        "tir.disable_vectorize=maybe",
                        "tir.usmp.enable=false",
                        "relay.FuseOps.max_depth=0",
                        "tir.disable_assert=maybe",
                        "tir.usmp.use_workspace_io=1",
                        "tir.usmp.use_workspace_io=0",
                        "nothing")))
                .hasMessageContaining("names 'relay.FuseOps.maxdepth', which is not known")
                .hasMessageContaining("relay.FuseOps.max_depth")
                .hasMessageContaining("sets tir.usmp.algorithm to 'genetic': there is one planner")
                .hasMessageContaining("sets tir.disable_vectorize to 'maybe': loops are scalar")
                .hasMessageContaining("sets tir.usmp.enable to 'false': memory is always planned ahead")
                .hasMessageContaining("sets relay.FuseOps.max_depth to '0'; expected 1 (no fusion) or more")
                .hasMessageContaining("sets tir.disable_assert to 'maybe'; expected true or false")
                .hasMessageContaining("sets 'tir.usmp.use_workspace_io' twice")
                .hasMessageContaining("has 'nothing'; expected key=value");
    }

    @Test
    void theNearestNameIsSuggested() {
        BuildSpec spec = BuildSpec.builder(LAYOUT, List.of(), "host")
                .passConfig(List.of("tir.usmp.enabled=1"))
                .build();
        assertThat(spec.malformed().stream().map(Problem::next).toList())
                .singleElement()
                .asString()
                .contains("tir.usmp.enable");
    }
}
