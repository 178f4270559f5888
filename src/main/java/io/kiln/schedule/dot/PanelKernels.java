// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dot;

import io.kiln.lower.PanelSums;
import io.kiln.schedule.blocked.BlockedPanelSums;
import io.kiln.target.CpuFeatures;
import java.util.Optional;

/** The micro-kernels for products of computed matrices, by core. */
public final class PanelKernels {
    private PanelKernels() {}

    /** The core's kernel, if it has one. */
    public static Optional<PanelSums> of(CpuFeatures features) {
        if (features.hasMve()) {
            return Optional.of(new MveSums());
        }
        if (features.hasDsp()) {
            return Optional.of(new DspPanelSums());
        }
        return BlockedPanelSums.isThere(features) ? Optional.of(BlockedPanelSums.of(features)) : Optional.empty();
    }
}
