// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.TargetText;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.target.CompositeTarget;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What generates code.
 *
 * @param target a target string, composite or not, instead of the board's; empty for the board's
 * @param cmsisNn the folder of CMSIS-NN's sources, with {@code Include} and {@code Source}
 */
public record CodegenSpec(Optional<String> target, Optional<Path> cmsisNn) {
    /** The board's target. */
    public static final CodegenSpec BOARD = new CodegenSpec(Optional.empty(), Optional.empty());

    /**
     * The target of the host's C compiler, for the board.
     *
     * @throws io.kiln.base.KilnException with all errors of the target
     */
    public Optional<String> host() {
        return target.map(text -> CompositeTarget.parse(text).host().text());
    }

    /** The kind of the host's target, if the target states nothing else. */
    public Optional<String> kind() {
        return target.map(String::strip).filter(TargetText.HOST_KINDS::contains);
    }

    void addTo(Fingerprint fingerprint) {
        fingerprint.setting("target of code generators", target.orElse(""));
        cmsisNn.ifPresent(folder -> fingerprint.setting("cmsisNn", folder.toAbsolutePath()));
    }
}
