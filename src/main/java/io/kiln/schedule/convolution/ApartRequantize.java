// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.div;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.lower.Epilogue;
import io.kiln.lower.layer.BiasTable;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.space.ConvTask;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import java.util.ArrayList;
import java.util.List;

/** Computes the sums of {@link BlockedConvSchedule} with a kernel, a block of channels at a time, then rescales them as the reference does. */
final class ApartRequantize {
    private final ConvComputation conv;
    private final BlockedSums blocks;
    private final int taps;
    private final Kernel kernel;
    private final Buffer output;
    private final Buffer sums;
    private final BiasTable bias;
    private final Epilogue epilogue;

    /**
     * Makes tables and reserves scratch.
     *
     * @param blocks pixels and channels, and a kernel that does not rescale
     * @param taps number of taps, including those that pad the last pair
     */
    ApartRequantize(ConvTask task, BlockedSums blocks, int taps) {
        this.conv = task.conv();
        this.blocks = blocks;
        this.taps = taps;
        this.kernel = blocks.apart().orElseThrow().kernel().get();
        this.output = task.buffers().output();
        this.sums = task.buffers().scratch(DType.INT32, (long) blocks.pixels() * blocks.channels());
        this.bias = BiasTable.ofFilled(conv, task.tables());
        this.epilogue = new Epilogue(conv.op(), bias.bound(), task.tables());
    }

    /** Emits all channels of a block of pixels, of which the first one's channel 0 goes to a position in the output. */
    void emit(BlockBuilder block, Buffer in, Buffer weights, Expr out) {
        int step = blocks.channels();
        int whole = conv.channels() / step * step;
        block.loop(
                "oc", imm(0), imm(whole), step, (inner, oc) -> channels(inner, in, weights, new Block(oc, step, out)));
        if (whole < conv.channels()) {
            block.block(rest -> channels(rest, in, weights, new Block(imm(whole), conv.channels() - whole, out)));
        }
    }

    /** Some channels, and where the first pixel's channel 0 goes. */
    private record Block(Expr oc, int channels, Expr out) {}

    private void channels(BlockBuilder block, Buffer in, Buffer weights, Block at) {
        Buffer w = block.view("w", weights, div(mul(at.oc, taps), imm(blocks.weightsPerElement())));
        List<Expr> scalars = new ArrayList<>();
        if (!blocks.pairsInputs()) {
            scalars.add(imm(conv.taps()));
        }
        scalars.add(imm(taps));
        block.call(kernel, List.of(in, w, sums), scalars);
        block.loop("c", at.channels, (inner, c) -> {
            Expr channel = inner.let("channel", add(at.oc, c));
            for (int p = 0; p < blocks.pixels(); p++) {
                Expr sum = load(sums, add(mul(c, blocks.pixels()), p));
                Expr biased = inner.let("sum" + p, add(sum, load(bias.buffer(), channel)));
                Expr index = add(add(at.out, (long) p * conv.channels()), channel);
                epilogue.store(inner, String.valueOf(p), biased, channel, output, index);
            }
        });
    }
}
