// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.elementwise;

import io.kiln.base.DType;
import io.kiln.kernels.elementwise.Jtemve_sum_of_bytesGenerated;
import io.kiln.kernels.elementwise.Jteriscv_sum_of_bytesGenerated;
import io.kiln.kernels.elementwise.Jtethumb1_sum_of_bytesGenerated;
import io.kiln.kernels.elementwise.Jtethumb2_sum_of_bytesGenerated;
import io.kiln.lower.element.ProvenAdd;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.Collections;
import java.util.List;

/**
 * A core's kernel for {@link ProvenAdd}. Its arguments are both sides, the results, their number, and the sum's factors, offset and limits. The
 * sheets are {@code kernels/elementwise/<core>_sum_of_bytes}.
 *
 * @param core any; {@link ElementCore#DSP} is the same as {@link ElementCore#THUMB2}
 * @param sum what it computes, on Armv6-M without limits but those of int8
 * @param block elements of an iteration, of which the number of elements is a multiple; on Armv7-M 1 or an even number; of no meaning for MVE
 */
public record AddKernel(ElementCore core, ProvenAdd sum, int block) {
    /** C name. */
    public String name() {
        String name = "kiln_" + core.id() + "_sum_" + sum.shift();
        if (core == ElementCore.MVE) {
            return name + (hasLimits(sum) ? "_l" : "");
        }
        long least = DType.INT8.min();
        String limits = hasLimits(sum) ? "_from_" + (sum.low() - least) + "_to_" + (sum.high() - least) : "";
        return name + "_x" + block + limits;
    }

    /** Name of the schedule. */
    String schedule() {
        String unroll = core == ElementCore.MVE ? "" : ", unroll=" + block;
        return core.id() + "_sum(shift=" + sum.shift() + unroll + ")";
    }

    /** Why the schedule was chosen. */
    String reason() {
        return "one multiplication for each side" + (core == ElementCore.MVE ? " (MVE)" : "");
    }

    /** Whether results of a sum have narrower limits than int8. */
    public static boolean hasLimits(ProvenAdd sum) {
        return sum.low() > DType.INT8.min() || sum.high() < DType.INT8.max();
    }

    Kernel kernel() {
        return new Kernel(
                name(),
                List.of(Pointer.in(DType.INT8), Pointer.in(DType.INT8), Pointer.out(DType.INT8)),
                Collections.nCopies(6, DType.INT32),
                List.of(),
                KernelSheet.text(
                        switch (core) {
                            case MVE -> (out, html) -> Jtemve_sum_of_bytesGenerated.render(out, html, this);
                            case RISCV -> (out, html) -> Jteriscv_sum_of_bytesGenerated.render(out, html, this);
                            case DSP, THUMB2 -> (out, html) -> Jtethumb2_sum_of_bytesGenerated.render(out, html, this);
                            case THUMB1 -> (out, html) -> Jtethumb1_sum_of_bytesGenerated.render(out, html, this);
                        }),
                List.of());
    }
}
