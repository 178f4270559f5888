// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT32;

import io.kiln.kernels.dense.Jteblocks_fixGenerated;
import io.kiln.lower.OperatorBuffers;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.List;

/**
 * A row of floats as integers for {@code dense/blocks_fixed}: each part of a block has a unit, so that sums of its products with weights fit 32 bits. An
 * integer has 23 bits for weights of four bits and 20 for those of eight, counted from the part's largest float; what is smaller is cut off.
 *
 * @param span steps of a part
 * @param bits of an integer
 * @param fixed receives the integers
 * @param units receives the units of parts
 */
record BlockIntegers(int span, int bits, Buffer fixed, Buffer units) {
    private static final int SUM_BITS = 31;

    /** Reserves memory for the blocks of a layer. */
    static BlockIntegers of(int weightBits, List<BlockWeights.Part> parts, OperatorBuffers buffers) {
        int span = weightBits == 4 ? 8 : 4;
        int inputs = BlockWeights.STEP * span;
        int bits = SUM_BITS - (weightBits - 1) - Integer.numberOfTrailingZeros(inputs);
        int steps = parts.stream()
                .mapToInt(part -> part.count() * part.steps())
                .max()
                .orElse(0);
        int units = parts.stream()
                .mapToInt(part -> part.count() * ((part.steps() + span - 1) / span))
                .max()
                .orElse(0);
        return new BlockIntegers(
                span, bits, buffers.scratch(INT32, (long) BlockWeights.STEP * steps), buffers.scratch(FLOAT32, units));
    }

    /** Emits the conversion of inputs; returns the integers and the units. */
    List<Buffer> emit(BlockBuilder block, Buffer x, BlockWeights.Part part) {
        String name = "kiln_blocks_fix_" + bits;
        Kernel kernel = new Kernel(
                name,
                List.of(Pointer.in(FLOAT32), Pointer.out(INT32), Pointer.out(FLOAT32)),
                List.of(INT32, INT32),
                List.of(),
                KernelSheet.text((out, html) -> Jteblocks_fixGenerated.render(out, html, name, bits, span)),
                List.of());
        block.call(kernel, List.of(x, fixed, units), List.of(Exprs.imm(part.count()), Exprs.imm(part.steps())));
        return List.of(fixed, units);
    }
}
