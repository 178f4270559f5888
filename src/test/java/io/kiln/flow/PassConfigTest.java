// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.ExecutorKind;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.base.Problem;
import io.kiln.compile.CallOptions;
import io.kiln.compile.CompileOptions;
import io.kiln.executor.PlannedModule.PackedOptions;
import io.kiln.flow.spec.PassConfig;
import io.kiln.transform.PassOptions;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PassConfigTest {
    @Test
    void namesOfTvmSetWhatTheyStandFor() {
        CallOptions graph =
                CallOptions.of("packed", false, Optional.empty(), false).with(ExecutorKind.GRAPH, true);
        CompileOptions options = PassConfig.parse(List.of(
                        "relay.FuseOps.max_depth=3",
                        "relay.FuseOps.link_params=0",
                        "tir.disable_assert = true",
                        "tir.usmp.use_workspace_io=1",
                        "tir.usmp.enable=True",
                        "tir.usmp.algorithm=greedy_by_size",
                        "tir.disable_vectorize=1",
                        "tir.disable_storage_rewrite=true",
                        "relay.backend.disable_memory_plan=false"))
                .over(CompileOptions.DEFAULT.with(graph));
        assertThat(options.passes().maxFusionDepth()).isEqualTo(3);
        assertThat(options.calls().executor()).isEqualTo(ExecutorKind.GRAPH);
        assertThat(options.calls().linkParams()).isFalse();
        assertThat(options.calls().packed()).isEqualTo(new PackedOptions(true, false));
        assertThat(options.calls().io().text()).isEqualTo("workspace");
    }

    @Test
    void whatIsNotSetStays() {
        CallOptions calls = CallOptions.of("packed", true, Optional.of(false), true);
        CompileOptions options = CompileOptions.DEFAULT
                .with(Optimize.SIZE)
                .with(calls)
                .with(new PassOptions(7, Set.of("fold-constants")));
        assertThat(PassConfig.parse(List.of()).over(options)).isEqualTo(options);
        assertThat(PassConfig.NONE.over(options)).isEqualTo(options);
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
        assertThatThrownBy(() -> PassConfig.parse(List.of("tir.usmp.enabled=1")))
                .isInstanceOfSatisfying(
                        KilnException.class,
                        e -> assertThat(e.problems())
                                .extracting(Problem::next)
                                .singleElement()
                                .asString()
                                .contains("tir.usmp.enable"));
    }
}
