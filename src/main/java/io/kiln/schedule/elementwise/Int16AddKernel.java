// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.elementwise;

import io.kiln.base.DType;
import io.kiln.kernels.elementwise.Jtedsp_sum_of_int16Generated;
import io.kiln.kernels.elementwise.Jtemve_sum_of_int16Generated;
import io.kiln.kernels.elementwise.Jteriscv_sum_of_channelGenerated;
import io.kiln.kernels.elementwise.Jteriscv_sum_of_int16Generated;
import io.kiln.kernels.elementwise.Jtethumb1_sum_of_channelGenerated;
import io.kiln.kernels.elementwise.Jtethumb1_sum_of_int16Generated;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.element.Int16Add;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.Collections;
import java.util.List;

/**
 * A core's kernel for {@link Int16Add}. Its arguments are the exact side, the other one, the results, their number, the multipliers of the other side
 * and of the sum, and the limits. The sheets are {@code kernels/elementwise/<core>_sum_of_int16} and {@code <core>_sum_of_channel}.
 *
 * @param core not {@link ElementCore#THUMB2}
 * @param sum what it computes; with DSP instructions and on Armv6-M without limits but those of int16
 * @param vector which side is a vector of channels; on MVE, the kernel then takes the number of pixels behind that of channels, on other cores it
 *     computes a channel, whose other side is one element
 * @param step elements from one of a channel to the next, on cores without MVE
 * @param block elements of an iteration, 1 or an even number, of which the number of elements is a multiple; only for DSP instructions and RISC-V
 */
public record Int16AddKernel(ElementCore core, Int16Add sum, Vector vector, int step, int block) {
    /** Which side is a vector of channels, the same for every pixel. */
    public enum Vector {
        NONE,
        EXACT,
        OTHER
    }

    /** How far offsets of RISC-V reach. */
    private static final int REACH = 2047;

    /** For sides of the same shape. */
    static Int16AddKernel of(ElementCore core, Int16Add sum, int block) {
        return new Int16AddKernel(core, sum, Vector.NONE, 0, block);
    }

    /** For a channel on RISC-V, with a block of at most this many elements, which divides their number, as far as loads reach. */
    static Int16AddKernel ofRiscVChannel(Int16Add sum, int step, int block) {
        int reached = block;
        while (reached > 1 && Short.BYTES * step * reached > REACH) {
            reached /= 2;
        }
        return new Int16AddKernel(ElementCore.RISCV, sum, Vector.OTHER, step, reached);
    }

    private boolean isChannel() {
        return vector != Vector.NONE && core != ElementCore.MVE;
    }

    private boolean hasBlock() {
        return core == ElementCore.DSP || core == ElementCore.RISCV;
    }

    /** C name. */
    public String name() {
        String operation = sum.subtractsExact() ? "_from" : sum.subtractsOther() ? "_less" : "_plus";
        String pixels = vector == Vector.EXACT ? "_exact_vector" : "_vector";
        return "kiln_" + core.id() + "_sum16" + (hasBlock() ? "_x" + block : "") + operation + "_" + sum.shift() + "_"
                + sum.outShift()
                + (sum.hasLimits() ? "_l" : "")
                + (isChannel() ? "_by_" + step : vector == Vector.NONE ? "" : pixels);
    }

    /** Name of the schedule. */
    String schedule() {
        String unroll = hasBlock() ? ", unroll=" + block : "";
        return core.id() + "_sum16" + (isChannel() ? "_channel" : "") + "(shift=" + sum.outShift() + unroll + ")";
    }

    /** Why the schedule was chosen. */
    String reason() {
        return switch (core) {
            case MVE -> "the reference's two roundings are one instruction each (MVE)";
            case DSP -> "one multiplication rounds";
            case RISCV -> "one multiplication for both roundings";
            case THUMB2, THUMB1 -> "halves of constants stay in registers";
        };
    }

    /** C's expression for the other side's product rounded by its shift; a multiplier of one half makes a product of exactly 2^14 for each unit. */
    public String rounded(String product) {
        int shift = sum.shift();
        return shift == 0
                ? "(" + product + ")"
                : "((" + product + " + (1 << " + (shift - 1) + ") + (" + product + " >> 31)) >> " + shift + ")";
    }

    /** C's expression for the exact side and {@code right} added, or subtracted. */
    public String added(String exact) {
        return sum.subtractsExact()
                ? "(right - " + exact + ")"
                : "(" + exact + (sum.subtractsOther() ? " - " : " + ") + "right)";
    }

    Kernel kernel() {
        int counts = vector != Vector.NONE && !isChannel() ? 2 : 1;
        return new Kernel(
                name(),
                List.of(Pointer.in(DType.INT16), Pointer.in(DType.INT16), Pointer.out(DType.INT16)),
                Collections.nCopies(counts + 4, DType.INT32),
                List.of(),
                KernelSheet.text(sheet()),
                isChannel() ? List.of(Intrinsics.RESCALE_SMALL) : List.of());
    }

    private KernelSheet.Template sheet() {
        return switch (core) {
            case MVE -> (out, html) -> Jtemve_sum_of_int16Generated.render(out, html, this);
            case DSP -> (out, html) -> Jtedsp_sum_of_int16Generated.render(out, html, this);
            case RISCV ->
                isChannel()
                        ? (out, html) -> Jteriscv_sum_of_channelGenerated.render(out, html, this)
                        : (out, html) -> Jteriscv_sum_of_int16Generated.render(out, html, this);
            case THUMB1 ->
                isChannel()
                        ? (out, html) -> Jtethumb1_sum_of_channelGenerated.render(out, html, this)
                        : (out, html) -> Jtethumb1_sum_of_int16Generated.render(out, html, this);
            case THUMB2 -> throw new IllegalArgumentException("no sums of int16 on " + core);
        };
    }
}
