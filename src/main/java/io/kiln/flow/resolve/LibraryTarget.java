// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import io.kiln.artifact.ObjectCompiler;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.TargetText;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.CodegenSpec;
import io.kiln.partition.UserFunctions;
import io.kiln.partition.cmsisnn.CmsisNnCodegen;
import io.kiln.target.CompositeTarget;
import io.kiln.target.Target;
import io.kiln.target.TargetKind;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.ClangObjects;
import io.kiln.toolchain.compiler.TargetOptions;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The target of a shared library for this computer.
 *
 * @param text the target string, composite if the build names other code generators
 * @param objects what makes objects, if it is of kind llvm
 */
public record LibraryTarget(String text, Optional<ObjectCompiler> objects) {
    private static final String PARAMETER = "kiln.target";

    /** Code generators whose functions call code that only firmware projects contain. */
    private static final Set<String> OF_FIRMWARE = Set.of(CmsisNnCodegen.NAME, UserFunctions.NAME);

    /**
     * The target that a build names, or C for this computer.
     *
     * @param flags of objects beside the usual ones
     * @throws KilnException if it names a core, or code generators whose functions call code outside the model
     */
    public static LibraryTarget of(BuildSpec spec, List<String> flags, ToolchainEnvironment environment) {
        CodegenSpec codegens = spec.codegens();
        codegens.target().ifPresent(LibraryTarget::check);
        Board board = TargetChoice.of(spec.boards().find("host"), codegens);
        boolean isOfObjects = TargetText.kind(board.target()).equals(TargetKind.LLVM.text());
        String text = codegens.target()
                .filter(whole -> codegens.kind().isEmpty())
                .map(whole -> CompositeTarget.parse(whole)
                        .withHost(Target.parse(board.target()))
                        .text())
                .orElse(board.target());
        return new LibraryTarget(
                text,
                isOfObjects
                        ? Optional.of(ClangObjects.of(board.target(), spec.optimize(), flags, environment))
                        : Optional.empty());
    }

    private static void check(String text) {
        TargetOptions host = TargetOptions.parse(CompositeTarget.hostText(text));
        if (!host.isHost()) {
            throw Failure.TARGET.exception(
                    "the target is for the core " + host.cpu() + ", and the library is for this computer",
                    PARAMETER,
                    "a target without a core",
                    "Set -D" + PARAMETER + "=c, or llvm");
        }
        CompositeTarget.parse(text).externals().stream()
                .map(CompositeTarget.External::name)
                .filter(OF_FIRMWARE::contains)
                .findFirst()
                .ifPresent(name -> {
                    throw Failure.TARGET.exception(
                            "functions of `" + name + "` call what lies in a firmware project",
                            PARAMETER,
                            "code generators whose C is compiled by itself",
                            "Set -D" + PARAMETER + "=c: the answers are the same");
                });
    }
}
