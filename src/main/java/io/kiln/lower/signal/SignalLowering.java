// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.signal;

import static io.kiln.lower.OperatorLowering.entry;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.shl;
import static io.kiln.tir.Exprs.shr;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.signal.SignalAutoScale;
import io.kiln.ir.op.signal.SignalDelay;
import io.kiln.ir.op.signal.SignalEnergy;
import io.kiln.ir.op.signal.SignalFft;
import io.kiln.ir.op.signal.SignalFrame;
import io.kiln.ir.op.signal.SignalOverlapAdd;
import io.kiln.ir.op.signal.SignalStack;
import io.kiln.ir.op.signal.SignalWindow;
import io.kiln.ir.type.Shape;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.OperatorLowering;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.List;
import java.util.Map;

/**
 * Signal processing: operators computed sample by sample here, transforms in {@link FourierLowering}, stateful ones in
 * {@link SignalHistory}.
 */
public final class SignalLowering {
    public static final Map<Class<? extends Op>, OperatorLowering<Op>> ALL = Map.ofEntries(
            entry(SignalFft.class, (op, fft, rows, c) -> fourier(op, fft, rows)),
            entry(SignalWindow.class, (op, window, rows, c) -> new SignalLowering(op).window(window, rows)),
            whole(SignalAutoScale.class, (lowering, body, scale) -> lowering.autoScale(body)),
            whole(SignalEnergy.class, SignalLowering::energy),
            whole(
                    SignalFrame.class,
                    (lowering, body, frame) -> lowering.history().frames(body, frame)),
            whole(
                    SignalDelay.class,
                    (lowering, body, delay) -> lowering.history().delay(body, delay)),
            whole(
                    SignalStack.class,
                    (lowering, body, stack) -> lowering.history().stack(body, stack)),
            whole(
                    SignalOverlapAdd.class,
                    (lowering, body, add) -> lowering.history().overlapAdd(body, add)));

    /** An int32 keeps one bit for the sign and one above the largest int16. */
    private static final int SPARE_BITS = 17;

    private final FusedOperator op;
    private final Tables tables;
    private final OperatorBuffers buffers;

    private SignalLowering(FusedOperator op) {
        this.op = op;
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
    }

    /** The loops of an operator that computes all of its result at once. */
    private interface Emission<S extends Op> {
        void emit(SignalLowering lowering, BlockBuilder body, S signal);
    }

    private static <S extends Op> Map.Entry<Class<? extends Op>, OperatorLowering<Op>> whole(
            Class<S> root, Emission<S> emission) {
        return entry(root, (op, signal, rows, context) -> {
            SignalLowering lowering = new SignalLowering(op);
            BlockBuilder body = new BlockBuilder();
            emission.emit(lowering, body, signal);
            List<RowDependency> dependencies = op.inputs().stream()
                    .<RowDependency>map(id -> new RowDependency.All(1))
                    .toList();
            return Nests.operator(op, lowering.buffers, lowering.tables, rows, dependencies, body.build(), "signal");
        });
    }

    private static LoweredOperator fourier(FusedOperator op, SignalFft fft, Rows rows) {
        Tables tables = new Tables(op.name());
        return FourierLowering.lower(op, fft, tables, new OperatorBuffers(op, tables), rows);
    }

    private SignalHistory history() {
        return new SignalHistory(op, buffers);
    }

    private LoweredOperator window(SignalWindow window, Rows rows) {
        Shape shape = op.type().shape();
        BlockBuilder body = Nests.vectors(shape, rows, (block, from, to) -> window(block, window, from, to));
        return Nests.operator(
                op, buffers, tables, rows, List.of(Nests.elementwise(shape, shape)), body.build(), "window");
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
