// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.base.NearMiss;
import io.kiln.base.Problems;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The user's changes to the pipeline.
 *
 * @param maxFusionDepth largest number of bindings in a fused group; 1 lowers every operator separately
 * @param disabled names of the skipped passes, as the user gives them
 */
public record PassOptions(int maxFusionDepth, Set<String> disabled) {
    /** Larger than any group that fusion makes; also Relay's default ({@code relay.FuseOps.max_depth}). */
    public static final int DEFAULT_MAX_FUSION_DEPTH = 256;

    /** Every pass, groups of any size. */
    public static final PassOptions DEFAULT = new PassOptions(DEFAULT_MAX_FUSION_DEPTH, Set.of());

    public PassOptions {
        disabled = Set.copyOf(disabled);
    }

    /** Finds a depth below 1, and names that are unknown or of a pass that cannot be skipped. */
    public void check(Problems problems) {
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
                        "kiln.disabledPasses names '" + name + "', which is not a pass",
                        "",
                        "some of " + String.join(", ", optional),
                        NearMiss.didYouMean(name, all.stream().map(Pass::name).toList()));
            } else {
                pass.get()
                        .whyRequired()
                        .ifPresent(why -> problems.add(
                                "the pass '" + name + "' cannot be skipped: " + why,
                                "",
                                "some of " + String.join(", ", optional) + " in kiln.disabledPasses",
                                ""));
            }
        }
    }
}
