// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.signal;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.op.signal.SignalDelay;
import io.kiln.ir.op.signal.SignalFrame;
import io.kiln.ir.op.signal.SignalOverlapAdd;
import io.kiln.ir.op.signal.SignalStack;
import io.kiln.ir.type.Shape;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.OperatorBuffers;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.List;

/** Loops of signal processing with state: frames, delays, stacks and overlapping sums. */
final class SignalHistory {
    private final OperatorBuffers buffers;
    private final Buffer data;
    private final Buffer out;
    private final Shape shape;
    private final int length;
    private final long signals;

    SignalHistory(FusedOperator op, OperatorBuffers buffers) {
        this.buffers = buffers;
        this.data = buffers.argument(0);
        this.out = buffers.output();
        this.shape = op.rootTypes().get(0).shape();
        this.length = shape.dim(-1);
        this.signals = shape.elements() / length;
    }

    void frames(BlockBuilder body, SignalFrame frame) {
        Buffer state = buffers.argument(SignalFrame.STATE);
        Expr last = imm(state.elements() - 1);
        int frames = length / frame.step();
        Expr begun = frame.missing() == 0 ? imm(0) : body.let("begun", load(state, last));
        Expr valid = Exprs.cast(DType.BOOL, Exprs.ge(begun, imm(frame.missing())));
        body.store(buffers.argument(SignalFrame.VALID), imm(0), frame.missing() == 0 ? imm(1, DType.BOOL) : valid);
        body.loop("s", signals, (outer, s) -> {
            Kept kept = new Kept(state, mul(s, frame.history()), frame.history(), mul(s, length));
            outer.loop("f", frames, (block, f) -> {
                Expr to = block.let("to", mul(add(mul(s, frames), f), frame.size()));
                Expr from = block.let("from", mul(f, frame.step()));
                if (frame.missing() == 0) {
                    copy(block, kept, from, to, frame.size());
                } else {
                    block.ifThenElse(
                            Exprs.ge(add(begun, f), imm(frame.missing())),
                            whole -> copy(whole, kept, from, to, frame.size()),
                            part -> part.loop("i", frame.size(), (b, i) -> b.store(out, add(to, i), imm(0))));
                }
            });
            forget(outer, kept);
        });
        if (frame.missing() > 0) {
            body.store(state, last, Exprs.min(add(begun, frames), imm(frame.missing())));
        }
    }

    void delay(BlockBuilder body, SignalDelay delay) {
        Buffer state = buffers.argument(SignalDelay.STATE);
        body.loop("s", signals, (block, s) -> {
            Kept kept = new Kept(state, mul(s, delay.length()), delay.length(), mul(s, length));
            copy(block, kept, imm(0), mul(s, length), length);
            forget(block, kept);
        });
    }

    /**
     * A signal: the kept samples, then the new ones.
     *
     * @param at start of the kept samples
     * @param count number of kept samples
     * @param data start of the new samples
     */
    private record Kept(Buffer state, Expr at, int count, Expr data) {}

    /** Copies samples of a signal: first the kept ones, then new ones. */
    private void copy(BlockBuilder block, Kept kept, Expr from, Expr to, int samples) {
        Expr most = Exprs.max(sub(imm(kept.count), from), imm(0));
        Expr old = block.let("old", Exprs.min(most, imm(samples)));
        block.loop(
                "i", imm(0), old, 1, (b, i) -> b.store(out, add(to, i), load(kept.state, add(add(kept.at, from), i))));
        Expr first = block.let("first", sub(add(kept.data, from), imm(kept.count)));
        block.loop("i", old, imm(samples), 1, (b, i) -> b.store(out, add(to, i), load(data, add(first, i))));
    }

    /** Keeps as many of the last samples as before. */
    private void forget(BlockBuilder block, Kept kept) {
        int old = Math.max(0, kept.count - length);
        block.loop(
                "i",
                old,
                (b, i) -> b.store(kept.state, add(kept.at, i), load(kept.state, add(add(kept.at, i), length))));
        Expr first = sub(add(kept.data, length), imm(kept.count));
        block.loop(
                "i",
                imm(old),
                imm(kept.count),
                1,
                (b, i) -> b.store(kept.state, add(kept.at, i), load(data, add(first, i))));
    }

    void stack(BlockBuilder body, SignalStack stack) {
        Buffer state = buffers.argument(SignalStack.STATE);
        int samples = (int) out.elements();
        Expr last = imm(samples);
        int forgotten = stack.step() * length;
        Expr.Var held = body.mutable("held", load(state, last));
        body.ifThenElse(
                Exprs.equal(held, imm(0)),
                first -> {
                    first.loop("f", stack.left() + 1L, (block, f) -> append(block, state, f));
                    first.assign(held, imm(stack.left() + 1L));
                },
                later -> append(later, state, sub(held, imm(1))));
        Expr whole = body.let("whole", Exprs.equal(held, imm(stack.frames())));
        body.store(buffers.argument(SignalStack.VALID), imm(0), whole);
        body.ifThenElse(
                whole,
                all -> {
                    all.loop("i", samples, (b, i) -> b.store(out, i, load(state, i)));
                    all.loop(
                            "i",
                            samples - (long) forgotten,
                            (b, i) -> b.store(state, i, load(state, add(i, forgotten))));
                    all.assign(held, imm(stack.frames() - (long) stack.step()));
                },
                none -> none.loop("i", samples, (b, i) -> b.store(out, i, imm(0))));
        body.store(state, last, add(held, 1));
    }

    /** Appends the new frame to the state, behind a number of frames. */
    private void append(BlockBuilder block, Buffer state, Expr frames) {
        Expr at = block.let("at", mul(frames, length));
        block.loop("i", length, (b, i) -> b.store(state, add(at, i), load(data, i)));
    }

    void overlapAdd(BlockBuilder body, SignalOverlapAdd overlap) {
        Buffer state = buffers.argument(SignalOverlapAdd.STATE);
        int frames = shape.dim(-2);
        int step = overlap.step();
        boolean isFloat = data.dtype().isFloat();
        body.loop("s", signals / frames, (outer, s) -> {
            Expr sums = outer.let("sums", mul(s, length));
            outer.loop("f", frames, (block, f) -> {
                Expr frame = block.let("frame", add(mul(s, frames), f));
                Expr from = block.let("from", mul(frame, length));
                Expr to = block.let("to", mul(frame, step));
                block.loop("i", step, (b, i) -> b.store(out, add(to, i), sum(state, add(sums, i), add(from, i))));
                block.loop(
                        "i",
                        imm(step),
                        imm(length),
                        1,
                        (b, i) -> b.store(state, sub(add(sums, i), imm(step)), sum(state, add(sums, i), add(from, i))));
                block.loop(
                        "i",
                        imm(length - (long) step),
                        imm(length),
                        1,
                        (b, i) -> b.store(state, add(sums, i), isFloat ? imm(0.0f) : imm(0)));
            });
        });
    }

    private Expr sum(Buffer state, Expr at, Expr from) {
        Expr sum = add(load(state, at), load(data, from));
        return data.dtype().isFloat() ? sum : new Expr.Call(Intrinsics.SATURATE_16, List.of(sum));
    }
}
