// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;

import io.kiln.base.DType;
import io.kiln.kernels.requantize.Jteint16Generated;
import io.kiln.lower.Int16Requantize;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.Limits;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * The rescaling of a block's sums of 32 bits to int16 by one function, of which a model has a single copy.
 *
 * @param conv the layer
 * @param block channels of a block
 * @param multipliers of each channel
 * @param limits of the results
 */
record DotResults(ConvComputation conv, int block, Buffer multipliers, Limits limits) {
    /**
     * For a layer of int16 data; empty if its results are not the upper halves of its sums times multipliers.
     *
     * @param block channels of a block
     * @param bound largest magnitude of a sum
     * @param tables receives the multipliers
     */
    static Optional<DotResults> of(ConvComputation conv, int block, long bound, Tables tables) {
        if (conv.dataType() != INT16) {
            return Optional.empty();
        }
        return Int16Requantize.high(conv.op(), conv.channels(), bound).map(multipliers -> {
            int[] values = multipliers.stream().mapToInt(m -> m).toArray();
            return new DotResults(conv, block, tables.add("multiplier", INT32, values), Limits.of(conv.op()));
        });
    }

    private boolean isLimited() {
        return limits.low() != Short.MIN_VALUE || limits.high() != Short.MAX_VALUE;
    }

    /**
     * Emits the call.
     *
     * @param sums by pixel, then by channel
     * @param out first result
     */
    void store(BlockBuilder code, Block of, Buffer sums, Buffer out) {
        List<Expr> scalars = new ArrayList<>(List.of(Exprs.imm(of.pixels), Exprs.imm(of.step)));
        if (isLimited()) {
            scalars.add(Exprs.imm(limits.low()));
            scalars.add(Exprs.imm(limits.high()));
        }
        Buffer multiplier = code.view("multipliers", multipliers, of.oc);
        code.call(kernel(of.valid), List.of(sums, multiplier, out), scalars);
    }

    /**
     * Sums that are rescaled together.
     *
     * @param pixels their number
     * @param oc first channel
     * @param valid number of channels that exist
     * @param step elements of the output from a pixel to the next one
     */
    record Block(int pixels, Expr oc, int valid, long step) {}

    private Kernel kernel(int valid) {
        String name =
                "kiln_rescale16_" + valid + (valid < block ? "_of" + block : "") + (isLimited() ? "_limited" : "");
        List<DType> scalars = new ArrayList<>(Collections.nCopies(isLimited() ? 4 : 2, INT32));
        return new Kernel(
                name,
                List.of(Pointer.in(INT32), Pointer.in(INT32), Pointer.out(INT16)),
                scalars,
                List.of(),
                KernelSheet.text((out, html) -> Jteint16Generated.render(out, html, name, valid, block, isLimited())),
                List.of(Intrinsics.RESCALE_HIGH, isLimited() ? Intrinsics.CLAMP : Intrinsics.SATURATE_16));
    }
}
