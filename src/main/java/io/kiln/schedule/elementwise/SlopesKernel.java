// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.elementwise;

import io.kiln.base.DType;
import io.kiln.kernels.elementwise.Jtedsp_slopes_of_int16Generated;
import io.kiln.kernels.elementwise.Jtemve_slopes_of_int16Generated;
import io.kiln.kernels.elementwise.Jteriscv_slopes_of_int16Generated;
import io.kiln.lower.element.ProvenSlopes;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.Collections;
import java.util.List;

/**
 * A core's kernel for {@link ProvenSlopes}. Its arguments are the elements, the results, their number, multiplier and offset of values from 0 on,
 * and by how much more those of values below 0 are. The sheets are {@code kernels/elementwise/<core>_slopes_of_int16}.
 *
 * @param core with MVE, DSP instructions or RV32IM
 * @param slopes what it computes
 * @param block elements of an iteration, of which the number of elements is a multiple: 1, 2 or a multiple of 4; of no meaning for MVE
 */
public record SlopesKernel(ElementCore core, ProvenSlopes slopes, int block) {
    /** C name. */
    public String name() {
        return "kiln_" + core.id() + "_slopes" + (core == ElementCore.MVE ? "" : "_x" + block) + "_" + slopes.shift()
                + (slopes.fits() ? "" : "_s")
                + (slopes.hasOneOffset() ? "" : "_o");
    }

    /** Name of the schedule. */
    String schedule() {
        String unroll = core == ElementCore.MVE ? "" : ", unroll=" + block;
        return core.id() + "_slopes(shift=" + slopes.shift() + unroll + ")";
    }

    Kernel kernel() {
        return new Kernel(
                name(),
                List.of(Pointer.in(DType.INT16), Pointer.out(DType.INT16)),
                Collections.nCopies(5, DType.INT32),
                List.of(),
                KernelSheet.text(
                        switch (core) {
                            case MVE -> (out, html) -> Jtemve_slopes_of_int16Generated.render(out, html, this);
                            case RISCV -> (out, html) -> Jteriscv_slopes_of_int16Generated.render(out, html, this);
                            case DSP -> (out, html) -> Jtedsp_slopes_of_int16Generated.render(out, html, this);
                            case THUMB2, THUMB1 -> throw new IllegalArgumentException("no slopes on " + core);
                        }),
                List.of());
    }
}
