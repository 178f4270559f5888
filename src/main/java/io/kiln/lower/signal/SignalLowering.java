// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.signal;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
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
import io.kiln.ir.arith.FourierRoots;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.signal.SignalOperators.SignalAutoScale;
import io.kiln.ir.op.signal.SignalOperators.SignalDelay;
import io.kiln.ir.op.signal.SignalOperators.SignalEnergy;
import io.kiln.ir.op.signal.SignalOperators.SignalFft;
import io.kiln.ir.op.signal.SignalOperators.SignalFrame;
import io.kiln.ir.op.signal.SignalOperators.SignalOverlapAdd;
import io.kiln.ir.op.signal.SignalOperators.SignalStack;
import io.kiln.ir.op.signal.SignalOperators.SignalWindow;
import io.kiln.ir.type.Shape;
import io.kiln.kernels.portable.signal.JtefftGenerated;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.OperatorLowering;
import io.kiln.lower.RootLowering;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Signal processing: operators computed sample by sample, transforms by one call of the kernel {@code portable/signal/fft} for each vector in the
 * memory of the result, and operators with state in {@link SignalHistory}.
 */
public final class SignalLowering extends RootLowering {
    private static final Intrinsic NEXT =
            Intrinsic.inFile("portable/signal/kiln_fft_next", List.of(INT32, INT32), INT32);
    private static final Intrinsic PRODUCTS_16 =
            Intrinsic.inFile("portable/signal/kiln_products_16", List.of(INT32, INT32, INT32, INT32), INT32);
    private static final Intrinsic PRODUCTS_32 =
            Intrinsic.inFile("portable/signal/kiln_products_32", List.of(INT32, INT32, INT32, INT32), INT32);
    private static final Intrinsic PRODUCTS_FLOAT = Intrinsic.inFile(
            "portable/signal/kiln_products_float", List.of(FLOAT32, FLOAT32, FLOAT32, FLOAT32), FLOAT32);

    public static final Map<Class<? extends Op>, OperatorLowering<Op>> ALL = Map.ofEntries(
            entry(SignalFft.class, (op, fft, rows, c) -> new SignalLowering(op).fourier(fft, rows)),
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

    private SignalLowering(FusedOperator op) {
        super(op);
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
            return Nests.single(lowering.buffers, rows, body.build(), "signal");
        });
    }

    private SignalHistory history() {
        return new SignalHistory(op, buffers);
    }

    private LoweredOperator window(SignalWindow window, Rows rows) {
        Shape shape = op.type().shape();
        BlockBuilder body = Nests.vectors(shape, rows, (block, from, to) -> window(block, window, from, to));
        return Nests.operator(buffers, rows, List.of(Nests.elementwise(shape, shape)), body.build(), "window");
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
        body.loop("i", imm(energy.start()), imm(energy.end()), (b, i) -> {
            Expr real = b.let("real", load(buffers.argument(0), mul(i, 2)));
            Expr imaginary = b.let("imaginary", load(buffers.argument(0), add(mul(i, 2), 1)));
            b.store(out, i, add(cast(DType.UINT32, mul(real, real)), cast(DType.UINT32, mul(imaginary, imaginary))));
        });
        body.loop("i", imm(energy.end()), imm(out.elements()), (b, i) -> b.store(out, i, zero));
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

    private LoweredOperator fourier(SignalFft fft, Rows rows) {
        DType dtype = op.type().dtype();
        Shape in = op.rootTypes().get(0).shape();
        int points = fft.length() / 2;
        List<Double> passes = new ArrayList<>();
        for (int i = 0; i < Math.max(1, 3 * points / 4); i++) {
            passes.add(FourierRoots.passPhase(i, points, fft.inverse()));
        }
        List<Double> split = new ArrayList<>();
        for (int k = 1; k <= points / 2; k++) {
            split.add(FourierRoots.splitPhase(k, points, fft.inverse()));
        }
        Buffer roots = table("roots", dtype, passes);
        Buffer splitRoots = table("split_roots", dtype, split);
        BlockBuilder body = Nests.vectors(op.type().shape().with(-1, 1), rows, (block, from, to) -> {
            Buffer data = block.view("data", buffers.argument(0), mul(from, in.dim(-1)));
            Buffer result = block.mutableView(
                    "result", buffers.output(), mul(to, op.type().shape().dim(-1)));
            List<Expr> scalars = fft.inverse() ? List.of(imm(points)) : List.of(imm(in.dim(-1)), imm(points));
            block.call(kernel(dtype, fft.inverse()), List.of(result, data, roots, splitRoots), scalars);
        });
        RowDependency same = RowDependency.same(Rows.count(op.type().shape()));
        return Nests.operator(buffers, rows, List.of(same), body.build(), "radix 4");
    }

    /** A table of complex numbers, each a pair of real and imaginary part. */
    private Buffer table(String name, DType dtype, List<Double> phases) {
        double[] parts = phases.stream()
                .flatMap(phase -> List.of(FourierRoots.real(phase), FourierRoots.imaginary(phase)).stream())
                .mapToDouble(Double::doubleValue)
                .toArray();
        if (dtype.isFloat()) {
            float[] values = new float[parts.length];
            for (int i = 0; i < values.length; i++) {
                values[i] = (float) parts[i];
            }
            return buffers.tables().add(name, values);
        }
        int bits = Byte.SIZE * dtype.bytes() - 1;
        int[] values = new int[parts.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = FourierRoots.fraction(parts[i], bits);
        }
        return buffers.tables().add(name, dtype, values);
    }

    /** The kernel for a type: result, data, factors of the passes, factors that take even and odd apart; samples given, n. */
    private static Kernel kernel(DType dtype, boolean inverse) {
        Intrinsic products = dtype.isFloat() ? PRODUCTS_FLOAT : dtype == INT16 ? PRODUCTS_16 : PRODUCTS_32;
        String name = (inverse ? "kiln_irfft_" : "kiln_rfft_") + products.name().substring("kiln_products_".length());
        Pointer in = Pointer.in(dtype);
        return new Kernel(
                name,
                List.of(Pointer.out(dtype), in, in, in),
                inverse ? List.of(INT32) : List.of(INT32, INT32),
                List.of(),
                KernelSheet.text(
                        (out, html) -> JtefftGenerated.render(out, html, name, dtype, products.name(), inverse)),
                List.of(NEXT, products));
    }

    /** Loops of signal processing with state: frames, delays, stacks and overlapping sums. */
    private static final class SignalHistory {
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
                    "i", imm(0), old, (b, i) -> b.store(out, add(to, i), load(kept.state, add(add(kept.at, from), i))));
            Expr first = block.let("first", sub(add(kept.data, from), imm(kept.count)));
            block.loop("i", old, imm(samples), (b, i) -> b.store(out, add(to, i), load(data, add(first, i))));
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
                            (b, i) -> b.store(
                                    state, sub(add(sums, i), imm(step)), sum(state, add(sums, i), add(from, i))));
                    block.loop(
                            "i",
                            imm(length - (long) step),
                            imm(length),
                            (b, i) -> b.store(state, add(sums, i), isFloat ? imm(0.0f) : imm(0)));
                });
            });
        }

        private Expr sum(Buffer state, Expr at, Expr from) {
            Expr sum = add(load(state, at), load(data, from));
            return data.dtype().isFloat() ? sum : new Expr.Call(Intrinsics.SATURATE_16, List.of(sum));
        }
    }
}
