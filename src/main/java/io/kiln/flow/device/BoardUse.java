// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.toolchain.board.Board;
import java.util.Optional;

/**
 * A board in use, with what its use needs.
 *
 * @param board its description
 * @param layout where scripts, logs and the flash content of virtual boards lie
 * @param semihosting whether images in an emulator may open files and start programs on this computer
 * @param build the build whose image runs on it; empty for images of other builds
 */
public record BoardUse(Board board, Layout layout, boolean semihosting, Optional<ResolvedBuild> build) {
    public static BoardUse of(ResolvedBuild build) {
        return new BoardUse(build.board(), build.spec().layout(), build.spec().semihosting(), Optional.of(build));
    }
}
