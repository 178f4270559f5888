// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.base.DType;
import io.kiln.kernels.movement.Jtemve_fill_everyGenerated;
import io.kiln.kernels.movement.Jtemve_spreadGenerated;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.List;

/** Micro-kernels for MVE that copy or fill runs of bytes, 16 at a time. */
public final class MveCopy {
    /** Longest run of one call: offsets of vector loads and stores go up to 127. */
    static final int MOST_RUN = 128;

    /** {@code fill(to, value, bytes)}. */
    static final Kernel FILL = Kernel.inFile(
            "movement/kiln_mve_fill", List.of(Pointer.out(DType.INT8)), List.of(DType.INT32, DType.INT32));

    /** {@code copy(from, to, bytes)}. */
    public static final Kernel COPY =
            Kernel.inFile("movement/kiln_mve_copy", Pointer.lastWritten(DType.INT8, DType.INT8), List.of(DType.INT32));

    private MveCopy() {}

    /** Sets bytes of a buffer, unless there are none. */
    public static void fill(BlockBuilder block, String name, Buffer buffer, int place, int bytes, int value) {
        if (bytes > 0) {
            Buffer to = block.mutableView(name, buffer, Exprs.imm(place));
            block.call(FILL, List.of(to), List.of(Exprs.imm(value), Exprs.imm(bytes)));
        }
    }

    /**
     * {@code spread(from, to, count)}: copies {@code count} runs of bytes.
     *
     * @param run bytes of a run, at most {@link #MOST_RUN}
     * @param fromStep bytes between the beginnings of runs
     * @param toStep likewise where they go
     */
    static Kernel spread(int run, int fromStep, int toStep) {
        String name = "kiln_mve_spread_" + run + "_" + fromStep + "_" + toStep;
        String text =
                KernelSheet.text((out, html) -> Jtemve_spreadGenerated.render(out, html, name, run, fromStep, toStep));
        return kernel(name, Pointer.lastWritten(DType.INT8, DType.INT8), 1, text);
    }

    /** Instructions for one run of bytes, where steps are short. */
    static int cost(int run) {
        return 2 * ((run + 15) / 16) + (run % 16 == 0 ? 0 : 1) + 1;
    }

    /** {@code fill_every(to, value, count, step)}: sets {@code count} runs of bytes to a value. */
    static Kernel fillEvery(int run) {
        String name = "kiln_mve_fill_every_" + run;
        String text = KernelSheet.text((out, html) -> Jtemve_fill_everyGenerated.render(out, html, name, run));
        return kernel(name, List.of(Pointer.out(DType.INT8)), 3, text);
    }

    private static Kernel kernel(String name, List<Pointer> pointers, int scalars, String text) {
        return Kernel.of(name, pointers, scalars, text);
    }
}
