// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import io.kiln.lower.SumKernels;
import io.kiln.schedule.convolution.BlockedPanelSums;
import io.kiln.schedule.convolution.BlockedSumKernels;
import io.kiln.target.CpuFeatures;
import java.util.Optional;

/** The micro-kernels for stateful layers, by core. */
public final class RecurrentKernels {
    private RecurrentKernels() {}

    /** The core's kernels, if it has some. */
    public static Optional<SumKernels> of(CpuFeatures features) {
        if (features.hasDsp()) {
            return Optional.of(features.hasMve() ? new MveSumKernels() : new DspSumKernels());
        }
        return BlockedPanelSums.isThere(features) ? Optional.of(new BlockedSumKernels(features)) : Optional.empty();
    }
}
