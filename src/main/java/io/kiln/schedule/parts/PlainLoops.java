// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import io.kiln.base.DType;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.FoldedSums;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;

/** Why a convolution or dense layer runs in plain loops, which the compiler optimizes, instead of a micro-kernel. */
public final class PlainLoops {
    private PlainLoops() {}

    /** The reason in words: the first that applies of core, optimization goal, data, shape and rescaling. */
    public static String reason(Workload workload) {
        CpuFeatures features = workload.features();
        ConvComputation conv = workload.conv();
        boolean hasKernels =
                features.family() == CpuFeatures.Family.CORTEX_M || features.family() == CpuFeatures.Family.RISCV;
        String why;
        if (!hasKernels) {
            why = "no micro-kernel for this core";
        } else if (workload.isForSize()) {
            why = "small code rather than a micro-kernel";
        } else if (conv.dataType() != DType.INT8) {
            why = "no micro-kernel for " + conv.dataType().text() + " data of this shape on this core";
        } else if (conv.isTransposed()) {
            why = "no micro-kernel that is faster for transposed convolutions of this shape on this core";
        } else {
            why = ofInt8(workload);
        }
        return "plain loops: " + why;
    }

    private static String ofInt8(Workload workload) {
        ConvComputation conv = workload.conv();
        if (workload.conv().op().requantization().isEmpty()) {
            return "sums are not rescaled to int8";
        }
        if (FoldedSums.of(conv).isEmpty()) {
            return conv.kernelZeroPoint() != 0
                    ? "weights less their zero point leave int8"
                    : "a bias with the input's zero point leaves 32 bits";
        }
        if (conv.depthwise() && conv.channels() != conv.input().dim(3)) {
            return "no micro-kernel for several outputs of an input channel";
        }
        return conv.depthwise() || conv.groups() > 1
                ? "no micro-kernel for this window or these groups"
                : "no exact rescaling of these sums in 32 bits, or no micro-kernel for this shape";
    }
}
