// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;

import io.kiln.lower.layer.ConvComputation;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;

/**
 * The groups of a layer's channels that a kernel computes one after the other: all at once of a depthwise convolution with as many outputs as inputs.
 *
 * @param count number of groups
 * @param inputs channels of the input in a group
 * @param outputs channels of the output in a group
 */
record SoftGroups(int count, int inputs, int outputs) {
    static SoftGroups of(ConvComputation conv) {
        int channels = conv.input().dim(3);
        int count = isDepthwise(conv) ? 1 : channels / conv.channelsPerGroup();
        return new SoftGroups(count, channels / count, conv.channels() / count);
    }

    /** Whether each channel of the output has one of the input for itself. */
    static boolean isDepthwise(ConvComputation conv) {
        return conv.isOneToOne();
    }

    /** Emits what computes each group of a pixel. */
    void emit(BlockBuilder block, BlockBuilder.LoopBody group) {
        block.loop("g", count, group);
    }

    /** The first input of a group. */
    Expr input(Expr group) {
        return mul(group, inputs);
    }

    /** The first output of a group. */
    Expr output(Expr group) {
        return mul(group, outputs);
    }

    /**
     * A group's part of a table.
     *
     * @param elements of each output channel
     */
    Buffer part(BlockBuilder block, Buffer table, Expr group, int elements) {
        return group.equals(imm(0))
                ? table
                : block.view("group_" + table.name(), table, mul(group, (long) outputs * elements));
    }
}
