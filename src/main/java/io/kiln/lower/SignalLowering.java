// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.shl;
import static io.kiln.tir.Exprs.shr;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.op.Signal;
import io.kiln.ir.op.SignalAutoScale;
import io.kiln.ir.op.SignalEnergy;
import io.kiln.ir.op.SignalFft;
import io.kiln.ir.op.SignalWindow;
import io.kiln.ir.type.Shape;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.List;

/** Signal processing: what is computed sample by sample here, transforms in {@link FourierLowering}, what remembers in {@link SignalHistory}. */
public final class SignalLowering {
    /** An int32 keeps one bit for the sign and one above the largest int16. */
    private static final int SPARE_BITS = 17;

    private final FusedOperator op;
    private final Tables tables;
    private final OperatorBuffers buffers;

    public SignalLowering(FusedOperator op) {
        this.op = op;
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
    }

    public LoweredOperator lower(Rows rows) {
        Signal signal = (Signal) op.root().op();
        if (signal instanceof SignalFft fft) {
            return FourierLowering.lower(op, fft, tables, buffers, rows);
        }
        if (signal instanceof SignalWindow window) {
            Shape shape = op.type().shape();
            BlockBuilder body = Nests.vectors(shape, rows, (block, from, to) -> window(block, window, from, to));
            return Nests.operator(
                    op, buffers, tables, rows, List.of(Nests.elementwise(shape, shape)), body.build(), "window");
        }
        BlockBuilder body = new BlockBuilder();
        if (signal instanceof SignalAutoScale) {
            autoScale(body);
        } else if (signal instanceof SignalEnergy energy) {
            energy(body, energy);
        } else {
            new SignalHistory(op, buffers).emit(body, signal);
        }
        List<RowDependency> dependencies = op.inputs().stream()
                .<RowDependency>map(id -> new RowDependency.All(1))
                .toList();
        return Nests.operator(op, buffers, tables, rows, dependencies, body.build(), "signal");
    }

    private void window(BlockBuilder block, SignalWindow window, Expr from, Expr to) {
        Buffer weights = buffers.argument(1);
        block.loop("i", op.type().shape().dim(-1), (b, i) -> {
            Expr product = mul(load(buffers.argument(0), add(from, i)), load(weights, i));
            Expr limited = new Expr.Call(Intrinsics.SATURATE_16, List.of(shr(product, imm(window.shift()))));
            b.store(buffers.output(), add(to, i), limited);
        });
    }

    private void energy(BlockBuilder body, SignalEnergy energy) {
        Buffer out = buffers.output();
        Expr zero = imm(0, DType.UINT32);
        body.loop("i", energy.start(), (b, i) -> b.store(out, i, zero));
        body.loop("i", imm(energy.start()), imm(energy.end()), 1, (b, i) -> {
            Expr real = b.let("real", load(buffers.argument(0), mul(i, 2)));
            Expr imaginary = b.let("imaginary", load(buffers.argument(0), add(mul(i, 2), 1)));
            b.store(out, i, add(cast(DType.UINT32, mul(real, real)), cast(DType.UINT32, mul(imaginary, imaginary))));
        });
        body.loop("i", imm(energy.end()), imm(out.elements()), 1, (b, i) -> b.store(out, i, zero));
    }

    private void autoScale(BlockBuilder body) {
        Buffer data = buffers.argument(0);
        Buffer bits = buffers.argument(SignalAutoScale.BITS);
        Expr.Var largest = body.mutable("largest", imm(0));
        body.loop("i", data.elements(), (b, i) -> {
            Expr value = b.let("value", load(data, i));
            Expr negative = cast(DType.INT16, sub(imm(0), value));
            Expr below = Exprs.select(Exprs.gt(sub(imm(0), value), largest), negative, largest);
            b.assign(largest, Exprs.select(Exprs.gt(value, largest), value, below));
        });
        Expr zeros = new Expr.Call(Intrinsics.LEADING_ZEROS, List.of(cast(DType.UINT32, largest)));
        Expr shift = body.let("shift", Exprs.select(Exprs.gt(largest, imm(0)), sub(zeros, imm(SPARE_BITS)), imm(0)));
        body.store(bits, imm(0), shift);
        body.loop("i", data.elements(), (b, i) -> b.store(buffers.output(), i, mul(load(data, i), shl(imm(1), shift))));
    }
}
