// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.transform.PassOptions;
import java.util.List;

/**
 * What the user changes about the compiler's passes.
 *
 * @param fuseMaxDepth how many bindings a fused group may hold
 * @param disabledPasses names of passes that are left out
 * @param dumpIr whether the IR is written after each pass
 */
public record PipelineSpec(int fuseMaxDepth, List<String> disabledPasses, boolean dumpIr) {
    /** Every pass, nothing written. */
    public static final PipelineSpec STANDARD =
            new PipelineSpec(PassOptions.DEFAULT_MAX_FUSION_DEPTH, List.of(), false);

    public PipelineSpec {
        disabledPasses = List.copyOf(disabledPasses);
    }

    /**
     * As the compiler takes it.
     *
     * @throws io.kiln.base.KilnException with everything that is wrong with it
     */
    PassOptions options() {
        return PassOptions.of(fuseMaxDepth, disabledPasses);
    }

    /** Adds all that generated files depend on. */
    Fingerprint addTo(Fingerprint fingerprint) {
        return fingerprint
                .setting("fuse.maxDepth", fuseMaxDepth)
                .setting(
                        "disabledPasses",
                        disabledPasses.stream().sorted().distinct().toList())
                .setting("dumpIr", dumpIr);
    }
}
