// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.tir.Kernel;
import java.util.List;

/** Kernels that copy the inputs of two pixels to scratch, widened and interleaved for {@link DspConvKernel}. */
final class DspGather {
    private static final List<Kernel.Pointer> PAIR =
            List.of(Kernel.Pointer.out(INT8), Kernel.Pointer.in(INT8), Kernel.Pointer.in(INT8));

    /** {@code (to, a, b, count)}: a run of inputs of both pixels, a multiple of four and not 0. */
    static final Kernel WIDEN_PAIR = Kernel.inFile("dsp/kiln_widen_pair", PAIR, List.of(INT32));

    /** {@code (to, a, b, count)}: the last one to three inputs of both pixels. */
    static final Kernel WIDEN_REST = Kernel.inFile("dsp/kiln_widen_rest", PAIR, List.of(INT32));

    /** {@code (to, from, before, inside, after, fill)}: one pixel's run, in fours: padding, inputs, padding. */
    static final Kernel WIDEN_EDGE = Kernel.inFile(
            "dsp/kiln_widen_edge",
            List.of(Kernel.Pointer.out(INT8), Kernel.Pointer.in(INT8)),
            List.of(INT32, INT32, INT32, INT32));

    /** The same, counted in bytes. */
    static final Kernel WIDEN_BYTES = Kernel.inFile(
            "dsp/kiln_widen_bytes",
            List.of(Kernel.Pointer.out(INT8), Kernel.Pointer.in(INT8)),
            List.of(INT32, INT32, INT32, INT32));

    private DspGather() {}
}
