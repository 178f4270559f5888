// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.artifact.ArchivePaths;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.RuntimeFiles;
import io.kiln.base.CText;
import io.kiln.base.Failure;
import io.kiln.base.Problems;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.flow.resolve.ModelFiles.ModelArchives.Archive;
import io.kiln.mlf.ModelLibraryFormat;
import io.kiln.target.Target;
import io.kiln.toolchain.board.Board;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds libraries and instructions that the C of an archive needs and that the project or the board lacks, before the compiler fails on them. */
final class ArchiveCode {
    /** Headers of CMSIS-NN, and of CMSIS-DSP and CMSIS-Core, which CMSIS-NN includes. */
    private static final Pattern CMSIS =
            Pattern.compile("(?:.*/)?(?:arm_nn\\w*|arm_math\\w*|cmsis_\\w+|core_c\\w+)\\.h");

    private static final Pattern RUNTIME = Pattern.compile("(?:tvm|dlpack|dmlc)/.*");
    /** Arm's intrinsics for SIMD on general registers, and those that TVM's kernels call besides (Arm C Language Extensions, "32-bit SIMD"). */
    private static final Pattern DSP = Pattern.compile("\\b(__(?:[su]xta?b16|[su]sat16|[su]?[hq]?(?:add|sub)(?:8|16)"
            + "|q(?:add|sub|dbl)|sel|sml[as]\\w{1,8}|smu[als]\\w{1,8}|pkh(?:bt|tb)))\\s*\\(");

    /** Tests of a file for the feature; a file with one also has a portable path. */
    private static final Pattern GUARD = Pattern.compile("\\b(?:__ARM_FEATURE_(?:DSP|SIMD32)|ARM_MATH_DSP)\\b");

    /** The header of the intrinsics; a project may bring its own that emulates them. */
    private static final String HEADER = "arm_acle.h";

    private static final int SHOWN = 3;

    private final Archive archive;
    private final Set<String> known = new LinkedHashSet<>();

    private ArchiveCode(Archive archive) {
        this.archive = archive;
    }

    /**
     * Adds a problem for each missing library.
     *
     * @param models the used models of the archive
     * @param sources folders with headers: the project's own C, which may contain the library, and CMSIS-NN if the build names its folder
     */
    static void checkIncludes(Archive archive, List<ModelLibrary> models, List<Path> sources, Problems problems) {
        ArchiveCode includes = new ArchiveCode(archive);
        RuntimeFiles.runtime().forEach(file -> includes.add(file.fileName()));
        sources.forEach(folder -> Fingerprint.filesBelow(folder)
                .forEach(file -> includes.add(folder.relativize(file).toString().replace('\\', '/'))));
        models.forEach(
                model -> model.artifacts().of(ArtifactKind.HEADER).forEach(file -> includes.add(file.fileName())));
        Map<String, Set<String>> missing = new TreeMap<>();
        for (ModelLibrary model : models) {
            model.artifacts().of(ArtifactKind.SOURCE).forEach(source -> includes.find(source, missing));
            model.artifacts().of(ArtifactKind.HEADER).forEach(header -> includes.find(header, missing));
        }
        missing.forEach((file, headers) -> includes.report(file, headers, problems));
    }

    /** Adds a header by the paths that includes name it by: they are searched for in the folder itself and in its {@code include}. */
    private void add(String path) {
        known.add(path);
        String folder = ArchivePaths.INCLUDE + "/";
        if (path.startsWith(folder)) {
            known.add(path.substring(folder.length()));
        }
    }

    private void find(Artifact file, Map<String, Set<String>> missing) {
        CText.includes(file.text()).forEach(header -> {
            boolean isNamed =
                    CMSIS.matcher(header).matches() || RUNTIME.matcher(header).matches();
            if (isNamed && !known.contains(header)) {
                missing.computeIfAbsent(file.fileName(), f -> new TreeSet<>()).add(header);
            }
        });
    }

    private void report(String file, Collection<String> headers, Problems problems) {
        String where = archive.name() + ": " + file;
        List<String> cmsis =
                headers.stream().filter(h -> CMSIS.matcher(h).matches()).toList();
        if (!cmsis.isEmpty()) {
            problems.add(Failure.LIBRARY.problem(
                    "CMSIS-NN is missing: the C includes " + String.join(", ", cmsis) + stated(),
                    where,
                    "CMSIS-NN and CMSIS-Core in the project",
                    "Set kiln.cmsisNn to its folder or artifact, put their sources into src/main/c and their headers"
                            + " into src/main/c/include, or export the model with --target=c alone"));
        }
        List<String> runtime =
                headers.stream().filter(h -> !CMSIS.matcher(h).matches()).toList();
        if (!runtime.isEmpty()) {
            problems.add(Failure.LIBRARY.problem(
                    "the C includes headers of TVM's runtime that Kiln's runtime does not have: "
                            + String.join(", ", runtime),
                    where,
                    "the C interface with the unpacked API, which needs none of it",
                    "Put the headers into src/main/c/include, or export the model with"
                            + " --executor-aot-interface-api=c --executor-aot-unpacked-api=1"));
        }
    }

    /** The dependencies that the archive itself states. */
    private String stated() {
        Set<String> stated = new TreeSet<>();
        ModelLibraryFormat.metadata(archive.name(), archive.files())
                .findValues("external_dependencies")
                .forEach(list -> list.forEach(each -> {
                    String name = each.path("short_name").asText("");
                    if (name.toLowerCase(Locale.ROOT).contains("cmsis")) {
                        stated.add(name + " " + each.path("version_spec").asText(""));
                    }
                }));
        return stated.isEmpty()
                ? ""
                : " (external_dependencies: " + String.join(", ", stated).strip() + ")";
    }

    /**
     * Adds a problem for each model that does not fit.
     *
     * @param archive the archive's name
     * @param models the used models of the archive
     * @param userSources the project's own C
     */
    static void checkCores(
            String archive, List<ModelLibrary> models, Board board, Path userSources, Problems problems) {
        boolean isBrought = Files.exists(userSources.resolve(HEADER))
                || Files.exists(userSources.resolve("include").resolve(HEADER));
        if (isBrought || Target.parse(board.target()).features().hasDsp()) {
            return;
        }
        for (ModelLibrary model : models) {
            Set<String> used = new TreeSet<>();
            model.artifacts().of(ArtifactKind.SOURCE).forEach(source -> findInstructions(source, used));
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

    private static void findInstructions(Artifact source, Set<String> used) {
        String text = source.text();
        if (source.isForeign() && !GUARD.matcher(text).find()) {
            for (Matcher matcher = DSP.matcher(text); matcher.find(); ) {
                used.add(matcher.group(1));
            }
        }
    }
}
