// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dot;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.base.Optimize;
import io.kiln.lower.RowDots;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.List;
import java.util.Optional;

/** Micro-kernels for {@link RowDots}: dot products of bytes by {@code SMLAD}, or by {@code VMLADAV} on MVE. */
public final class ByteDots {
    private static final Intrinsic EXTEND = Intrinsic.inFile("dsp/kiln_sxtb16", List.of(INT32), INT32);

    private static final Intrinsic EXTEND_ODD = Intrinsic.inFile("dsp/kiln_sxtb16_odd", List.of(INT32), INT32, EXTEND);

    private static final RowDots DSP = new RowDots(kernel("dsp/kiln_dot8", EXTEND, EXTEND_ODD, DspWideKernel.SMLAD), 4);

    private static final RowDots MVE = new RowDots(kernel("mve/kiln_mve_dot8"), 16);

    private ByteDots() {}

    private static Kernel kernel(String file, Intrinsic... uses) {
        List<Pointer> pointers = List.of(Pointer.in(INT8), Pointer.in(INT8), Pointer.out(INT32));
        return Kernel.inFile(file, pointers, List.of(INT32), uses);
    }

    /** The kernel of a core that has one. */
    public static Optional<RowDots> of(CpuFeatures features, Optimize optimize) {
        if (optimize == Optimize.SIZE || !features.hasDsp()) {
            return Optional.empty();
        }
        return Optional.of(features.hasMve() ? MVE : DSP);
    }
}
