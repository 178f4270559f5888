// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.base.NearMiss;
import io.kiln.base.Problems;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a user may change about the pipeline.
 *
 * @param maxFusionDepth how many bindings a fused group may hold, 1 or more; 1 lowers every operator on its own
 * @param disabled names of the passes that are left out
 */
public record PassOptions(int maxFusionDepth, Set<String> disabled) {
    /** Beyond any group that fusion makes; Relay's default too ({@code relay.FuseOps.max_depth}). */
    public static final int DEFAULT_MAX_FUSION_DEPTH = 256;

    /** Every pass, groups of any size. */
    public static final PassOptions DEFAULT = new PassOptions(DEFAULT_MAX_FUSION_DEPTH, Set.of());

    public PassOptions {
        disabled = Set.copyOf(disabled);
    }

    /**
     * Options as a user states them.
     *
     * @throws io.kiln.base.KilnException if the depth is below 1, or if a name is unknown or of a pass that cannot be left out
     */
    public static PassOptions of(int maxFusionDepth, Collection<String> disabled) {
        Problems problems = new Problems();
        if (maxFusionDepth < 1) {
            problems.add("kiln.fuse.maxDepth is " + maxFusionDepth, "", "1 (no fusion) or more", "");
        }
        List<Pass> all = Pipeline.standard().passes();
        List<String> optional = all.stream()
                .filter(pass -> pass.whyRequired().isEmpty())
                .map(Pass::name)
                .toList();
        for (String name : new TreeSet<>(disabled)) {
            Optional<Pass> pass =
                    all.stream().filter(p -> p.name().equals(name)).findFirst();
            if (pass.isEmpty()) {
                problems.add(
                        "kiln.disabledPasses names '" + name + "', which is no pass",
                        "",
                        "some of " + String.join(", ", optional),
                        NearMiss.didYouMean(name, all.stream().map(Pass::name).toList()));
            } else {
                pass.get()
                        .whyRequired()
                        .ifPresent(why -> problems.add(
                                "the pass '" + name + "' cannot be left out: " + why,
                                "",
                                "some of " + String.join(", ", optional) + " in kiln.disabledPasses",
                                ""));
            }
        }
        problems.throwIfAny();
        return new PassOptions(maxFusionDepth, Set.copyOf(disabled));
    }
}
