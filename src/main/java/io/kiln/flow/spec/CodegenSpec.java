// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.incremental.Fingerprint;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What generates code.
 *
 * @param target a target string, composite or not, or a kind alone, instead of the board's; empty for the board's
 * @param cmsisNn the folder of CMSIS-NN's sources, with {@code Include} and {@code Source}
 */
public record CodegenSpec(Optional<String> target, Optional<Path> cmsisNn) {
    /** The board's target. */
    public static final CodegenSpec BOARD = new CodegenSpec(Optional.empty(), Optional.empty());

    void addTo(Fingerprint fingerprint) {
        fingerprint.setting("target of code generators", target.orElse(""));
        cmsisNn.ifPresent(folder -> fingerprint.setting("cmsisNn", folder.toAbsolutePath()));
    }
}
