// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.TargetText;
import io.kiln.base.incremental.Fingerprint.NoInput;
import io.kiln.frontend.relay.rule.Rules;
import io.kiln.partition.ExternalCodegen;
import io.kiln.partition.UserFunctions;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The code generators of a build.
 *
 * @param target a target string, composite or not, or a kind alone, instead of the board's; empty for the board's
 * @param cmsisNn the folder of CMSIS-NN's sources, with {@code Include} and {@code Source}
 * @param externals C functions of the user that compute chains of operators
 * @param vela how Vela compiles the models for an NPU first; empty if it does not
 */
public record CodegenSpec(
        Optional<String> target,
        Optional<Path> cmsisNn,
        List<UserFunctions.External> externals,
        Optional<VelaSpec> vela) {
    public static final CodegenSpec BOARD = new CodegenSpec(Optional.empty(), Optional.empty());

    public CodegenSpec {
        externals = List.copyOf(externals);
    }

    /** Code generators without C functions of the user. */
    public CodegenSpec(Optional<String> target, Optional<Path> cmsisNn) {
        this(target, cmsisNn, List.of());
    }

    /** Code generators without Vela. */
    public CodegenSpec(Optional<String> target, Optional<Path> cmsisNn, List<UserFunctions.External> externals) {
        this(target, cmsisNn, externals, Optional.empty());
    }

    public CodegenSpec with(Optional<VelaSpec> other) {
        return new CodegenSpec(target, cmsisNn, externals, other);
    }

    /** Where C of archives may find headers: the project's own sources, and CMSIS-NN's. */
    public List<Path> headerFolders(Path userSources) {
        return Stream.concat(Stream.of(userSources), cmsisNn.map(folder -> folder.resolve("Include")).stream())
                .toList();
    }

    /**
     * Code generators that are made of this build's configuration.
     *
     * @throws io.kiln.base.KilnException with all errors of {@code externals}
     */
    public List<ExternalCodegen> own() {
        return externals.isEmpty() ? List.of() : List.of(UserFunctions.of(externals, Rules.names()));
    }

    /** The kind of the host's target, if the target states nothing else. */
    public Optional<String> kind() {
        return target.map(String::strip).filter(TargetText.HOST_KINDS::contains);
    }

    /**
     * How Vela, a program of the user's, compiles models for an NPU before Kiln compiles what it leaves.
     *
     * @param configuration the NPU, such as {@code ethos-u55-128}
     * @param program name or path of Vela
     * @param version the only version that may run; empty for any
     */
    public record VelaSpec(
            String configuration,

            @NoInput(because = "its version and the file that it makes are inputs themselves")
            String program,

            @NoInput(because = "the version that ran is an input itself")
            Optional<String> version) {
        /** Its name on the PATH. */
        public static final String PROGRAM = "vela";
    }
}
