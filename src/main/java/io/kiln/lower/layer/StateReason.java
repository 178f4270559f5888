// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import io.kiln.base.DType;
import io.kiln.lower.SumKernels;
import java.util.Optional;

/** Why a layer with state runs by micro-kernels, or in plain loops. */
final class StateReason {
    private StateReason() {}

    /**
     * The reason in words: the first that applies of core, data and constants.
     *
     * @param ofCore the micro-kernels of the core
     * @param areUsed whether the layer runs by them
     */
    static String of(Optional<SumKernels> ofCore, boolean areUsed, DType data) {
        if (areUsed) {
            return "weights are packed at build time, and several sums computed together";
        }
        return "plain loops: "
                + (ofCore.isEmpty()
                        ? "no micro-kernel for this core"
                        : data.isFloat()
                                ? "no micro-kernel for float32 data with a state"
                                : "no micro-kernel for this type of state, or sums of these weights leave 32 bits");
    }
}
