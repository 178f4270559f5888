// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.space;

import io.kiln.base.DType;
import io.kiln.base.Optimize;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.target.CpuFeatures;
import io.kiln.target.InstructionCache;
import java.util.OptionalInt;

/**
 * A convolution or dense layer on a core, with everything that its schedule depends on. It has nothing to write to, so
 * that decisions cannot build tables or reserve scratch.
 *
 * @param conv the layer
 * @param rows rows of the output to compute
 * @param features features of the core
 * @param optimize what to optimize for
 */
public record Workload(ConvComputation conv, Rows rows, CpuFeatures features, Optimize optimize) {
    /** Most bytes of code that a loop should have, everything that it calls included; empty for any number. */
    public OptionalInt codeBytes() {
        return features.cache().stream().mapToInt(InstructionCache::bytes).findFirst();
    }

    public boolean isForSize() {
        return optimize == Optimize.SIZE;
    }

    /**
     * Whether it is int8, not transposed, and its results are rescaled, as most micro-kernels require. Weights may still have any type: where sums
     * are proven to be {@linkplain io.kiln.lower.layer.FoldedSums folded}, they are int8 and have no zero point.
     */
    public boolean isPlainInt8() {
        return conv.dataType() == DType.INT8
                && !conv.isTransposed()
                && conv.op().requantization().isPresent();
    }

    /** Multiply-accumulates of all windows, padding included. */
    public long macs() {
        return conv.output().elements() * conv.taps();
    }
}
