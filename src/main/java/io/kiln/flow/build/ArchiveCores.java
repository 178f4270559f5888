// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.Artifact.Loader;
import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.target.Target;
import io.kiln.toolchain.board.Board;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds C of an archive that uses instructions that the board's core does not have, before a compiler stumbles over them. */
final class ArchiveCores {
    /** Arm's functions for SIMD on general registers, and what TVM's kernels call beside (Arm C Language Extensions, "32-bit SIMD"). */
    private static final Pattern DSP = Pattern.compile("\\b(__(?:[su]xta?b16|[su]sat16|[su]?[hq]?(?:add|sub)(?:8|16)"
            + "|q(?:add|sub|dbl)|sel|sml[as]\\w{1,8}|smu[als]\\w{1,8}|pkh(?:bt|tb)))\\s*\\(");

    /** A file that asks for the feature has another way, too. */
    private static final Pattern GUARD = Pattern.compile("\\b(?:__ARM_FEATURE_(?:DSP|SIMD32)|ARM_MATH_DSP)\\b");

    /** Where the functions come from; a project may bring its own, that computes them on another core. */
    private static final String HEADER = "arm_acle.h";

    private static final int SHOWN = 3;

    private ArchiveCores() {}

    /**
     * Adds what does not fit.
     *
     * @param archive the archive's name
     * @param models the models of the archive that are used
     * @param userSources the project's own C
     */
    static void check(String archive, List<ModelLibrary> models, Board board, Path userSources, Problems problems) {
        boolean isBrought = Files.exists(userSources.resolve(HEADER))
                || Files.exists(userSources.resolve("include").resolve(HEADER));
        if (isBrought || Target.parse(board.target()).features().hasDsp()) {
            return;
        }
        for (ModelLibrary model : models) {
            Set<String> used = new TreeSet<>();
            model.artifacts().of(Loader.SOURCE).forEach(source -> find(source, used));
            if (!used.isEmpty()) {
                problems.add(new Problem(
                        "the C of model `" + model.metadata().name() + "` needs Arm's DSP instructions ("
                                + String.join(", ", used.stream().limit(SHOWN).toList())
                                + (used.size() > SHOWN ? " …" : "") + "): it was made for `"
                                + model.metadata().target() + "`",
                        archive,
                        "C for board " + board.id() + ", whose target is `" + board.target() + "`",
                        "Choose a board whose core has them, such as a Cortex-M4, or export the model for this one"));
            }
        }
    }

    private static void find(Artifact source, Set<String> used) {
        String text = source.text();
        if (source.isForeign() && !GUARD.matcher(text).find()) {
            for (Matcher matcher = DSP.matcher(text); matcher.find(); ) {
                used.add(matcher.group(1));
            }
        }
    }
}
