// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.frontend.CustomOperators;
import io.kiln.transform.PassOptions;
import java.util.List;

/**
 * What the user changes about the compiler: its passes, and what it takes for an operator.
 *
 * @param fuseMaxDepth how many bindings a fused group may hold
 * @param disabledPasses names of passes that are left out
 * @param dumpIr whether the IR is written after each pass
 * @param customOperators operators that C functions of the user's compute
 */
public record PipelineSpec(
        int fuseMaxDepth, List<String> disabledPasses, boolean dumpIr, CustomOperators customOperators) {
    /** Every pass, nothing written. */
    public static final PipelineSpec STANDARD =
            new PipelineSpec(PassOptions.DEFAULT_MAX_FUSION_DEPTH, List.of(), false);

    /** Passes without functions of the user's. */
    public PipelineSpec(int fuseMaxDepth, List<String> disabledPasses, boolean dumpIr) {
        this(fuseMaxDepth, disabledPasses, dumpIr, CustomOperators.NONE);
    }

    /**
     * The same with functions as the configuration names them.
     *
     * @throws io.kiln.base.KilnException with everything that is wrong with them
     */
    public PipelineSpec(int fuseMaxDepth, List<String> disabledPasses, boolean dumpIr, String customOperators) {
        this(fuseMaxDepth, disabledPasses, dumpIr, CustomOperators.of(CustomOperators.parse(customOperators)));
    }

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
                .setting("dumpIr", dumpIr)
                .setting("customOperators", customOperators.text());
    }
}
