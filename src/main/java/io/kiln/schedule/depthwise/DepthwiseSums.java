// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.lower.Epilogue;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.layer.BiasTable;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.WeightPacking;
import io.kiln.schedule.space.ConvTask;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.List;

/** The sums of {@link DepthwiseDirect}: initial value, products and final conversion. */
final class DepthwiseSums {
    private final ConvComputation conv;
    private final BiasTable bias;
    private final Epilogue epilogue;
    private final Buffer output;

    /** Whether multiply and add are one instruction. */
    private final boolean isFused;

    /** Whether a sum fits into 32 bits without its bias but not with it. */
    private final boolean isBiasLast;

    DepthwiseSums(ConvTask task, boolean fits32Bits) {
        this.conv = task.conv();
        this.bias = BiasTable.of(conv, task.tables());
        this.epilogue = new Epilogue(conv.op(), bias.bound(), task.tables());
        this.output = task.buffers().output();
        this.isFused = DepthwisePixels.isFused(task.workload());
        this.isBiasLast = fits32Bits && bias.buffer().dtype() == DType.INT64;
    }

    /** Declares the sum of a channel. */
    Expr.Var start(BlockBuilder block, String name, Expr oc) {
        return block.mutable(name, isBiasLast ? imm(0) : load(bias.buffer(), oc));
    }

    /** Emits the addition of a product. */
    void accumulate(BlockBuilder block, Expr.Var sum, Expr x, Expr weight) {
        Expr centred = conv.isFloat() || bias.isFolded() ? x : sub(x, imm(conv.inputZeroPoint()));
        Expr by = WeightPacking.centred(conv, weight);
        block.assign(
                sum,
                isFused
                        ? new Expr.Call(Intrinsics.MULTIPLY_ADD, List.of(sum, centred, by))
                        : add(sum, cast(sum.dtype(), mul(centred, by))));
    }

    /** Emits the conversion of a sum to an output element. */
    void store(BlockBuilder block, String suffix, Expr sum, Expr oc, Expr pixel) {
        Expr biased = isBiasLast ? add(cast(DType.INT64, sum), load(bias.buffer(), oc)) : sum;
        epilogue.store(block, suffix, biased, oc, output, add(pixel, oc));
    }
}
