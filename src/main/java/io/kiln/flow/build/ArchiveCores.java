// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Failure;
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

/** Finds C in an archive that needs instructions which the board's core lacks, before the compiler fails on it. */
final class ArchiveCores {
    /**
     * Arm's intrinsics for SIMD on general registers, and those that TVM's kernels call besides (Arm C Language
     * Extensions, "32-bit SIMD").
     */
    private static final Pattern DSP = Pattern.compile("\\b(__(?:[su]xta?b16|[su]sat16|[su]?[hq]?(?:add|sub)(?:8|16)"
            + "|q(?:add|sub|dbl)|sel|sml[as]\\w{1,8}|smu[als]\\w{1,8}|pkh(?:bt|tb)))\\s*\\(");

    /** Tests of a file for the feature; a file with one also has a portable path. */
    private static final Pattern GUARD = Pattern.compile("\\b(?:__ARM_FEATURE_(?:DSP|SIMD32)|ARM_MATH_DSP)\\b");

    /** The header of the intrinsics; a project may bring its own that emulates them. */
    private static final String HEADER = "arm_acle.h";

    private static final int SHOWN = 3;

    private ArchiveCores() {}

    /**
     * Adds a problem for each model that does not fit.
     *
     * @param archive the archive's name
     * @param models the used models of the archive
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
            model.artifacts().of(ArtifactKind.SOURCE).forEach(source -> find(source, used));
            if (!used.isEmpty()) {
                problems.add(Failure.ARCHIVE.problem(
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
