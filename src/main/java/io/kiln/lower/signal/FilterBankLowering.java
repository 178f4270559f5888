// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.signal;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.UINT32;
import static io.kiln.base.DType.UINT64;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.bitAnd;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.gt;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.lt;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.select;
import static io.kiln.tir.Exprs.shl;
import static io.kiln.tir.Exprs.shr;
import static io.kiln.tir.Exprs.sub;

import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.ScaledLogarithm;
import io.kiln.ir.arith.WideDynamicGain;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.signal.FilterBankOperators.FilterBankAccumulate;
import io.kiln.ir.op.signal.FilterBankOperators.FilterBankGainControl;
import io.kiln.ir.op.signal.FilterBankOperators.FilterBankLog;
import io.kiln.ir.op.signal.FilterBankOperators.FilterBankSpectralSubtraction;
import io.kiln.ir.op.signal.FilterBankOperators.FilterBankSquareRoot;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorLowering;
import io.kiln.lower.RootLowering;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Intrinsic;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Operators on the channels of a filter bank: one loop over the channels. */
public final class FilterBankLowering extends RootLowering {
    public static final Map<Class<? extends Op>, OperatorLowering<Op>> ALL = Map.ofEntries(
            channels(FilterBankAccumulate.class, (lowering, body, bank) -> lowering.sums(body)),
            channels(FilterBankSquareRoot.class, (lowering, body, bank) -> lowering.squareRoot(body)),
            channels(FilterBankSpectralSubtraction.class, FilterBankLowering::subtraction),
            channels(FilterBankGainControl.class, FilterBankLowering::gainControl),
            channels(FilterBankLog.class, FilterBankLowering::log));

    private static final Intrinsic SQUARE_ROOT_32 =
            Intrinsic.inFile("portable/signal/kiln_square_root_32", List.of(UINT32), UINT32);

    /** {@link io.kiln.ir.arith.SquareRoot}. */
    private static final Intrinsic SQUARE_ROOT =
            Intrinsic.inFile("portable/signal/kiln_square_root", List.of(UINT64), UINT32, SQUARE_ROOT_32);

    /** A right shift that is 0 where C leaves it undefined. */
    private static final Intrinsic SHIFT_RIGHT =
            Intrinsic.inFile("portable/signal/kiln_shift_right", List.of(UINT32, INT32), UINT32);

    private final long channels;

    private FilterBankLowering(FusedOperator op) {
        super(op);
        this.channels = op.type().shape().elements();
    }

    /** The loop of an operator. */
    private interface Emission<B extends Op> {
        void emit(FilterBankLowering lowering, BlockBuilder body, B bank);
    }

    private static <B extends Op> Map.Entry<Class<? extends Op>, OperatorLowering<Op>> channels(
            Class<B> root, Emission<B> emission) {
        return OperatorLowering.entry(root, (op, bank, rows, context) -> {
            FilterBankLowering lowering = new FilterBankLowering(op);
            BlockBuilder body = new BlockBuilder();
            emission.emit(lowering, body, bank);
            return Nests.single(lowering.buffers, rows, body.build(), "channels");
        });
    }

    private void sums(BlockBuilder body) {
        new FilterBankSums(op.root(), buffers.tables()).emit(body, buffers.argument(0), buffers.output());
    }

    private void squareRoot(BlockBuilder body) {
        Buffer data = buffers.argument(0);
        Expr bits = op.root().args().get(FilterBankSquareRoot.BITS) instanceof Constant constant
                ? imm(constant.integer(0))
                : body.let("bits", load(buffers.argument(FilterBankSquareRoot.BITS), imm(0)));
        body.loop("c", channels, (block, c) -> {
            Expr root = new Expr.Call(SQUARE_ROOT, List.of(load(data, c)));
            block.store(buffers.output(), c, new Expr.Call(SHIFT_RIGHT, List.of(root, bits)));
        });
    }

    private void subtraction(BlockBuilder body, FilterBankSpectralSubtraction by) {
        Buffer data = buffers.argument(0);
        Buffer estimate = buffers.argument(FilterBankSpectralSubtraction.ESTIMATE);
        Expr bits = imm(by.bits());
        body.loop("c", channels, (block, c) -> {
            Expr value = block.let("value", load(data, c));
            Expr scaled = block.let("scaled", shl(value, imm(by.smoothingBits())));
            Expr smoothing = alternating(c, by.smoothing(), by.alternateSmoothing());
            Expr rest = alternating(c, by.oneMinusSmoothing(), by.alternateOneMinusSmoothing());
            Expr sum = add(mul(wide(scaled), smoothing), mul(wide(load(estimate, c)), rest));
            Expr smoothed = block.let("smoothed", cast(UINT32, shr(sum, bits)));
            Expr within = block.let("within", Exprs.min(smoothed, scaled));
            block.store(estimate, c, by.clamping() ? within : smoothed);
            Expr less = block.let("less", shr(sub(scaled, within), imm(by.smoothingBits())));
            Expr remaining = mul(wide(value), imm(by.minSignalRemaining(), UINT64));
            Expr least = block.let("least", cast(UINT32, shr(remaining, bits)));
            block.store(buffers.output(), c, Exprs.max(less, least));
        });
    }

    /** The factor of a channel: one for channels 0, 2, 4 …, another for those between. */
    private static Expr alternating(Expr channel, int even, int odd) {
        Expr isOdd = Exprs.notEqual(bitAnd(channel, imm(1)), imm(0));
        return even == odd ? imm(even, UINT64) : select(isOdd, imm(odd, UINT64), imm(even, UINT64));
    }

    private void gainControl(BlockBuilder body, FilterBankGainControl control) {
        Buffer data = buffers.argument(0);
        Buffer noises = buffers.argument(FilterBankGainControl.NOISE);
        Buffer gains = buffers.tables()
                .add(
                        "gains",
                        INT16,
                        op.root().constant(FilterBankGainControl.GAINS).data());
        int less = FilterBankGainControl.SNR_BITS - FilterBankGainControl.OUTPUT_BITS;
        body.loop("c", channels, (block, c) -> {
            Expr noise = block.let("noise", load(noises, c));
            Expr.Var gain = block.mutable("gain", load(gains, Exprs.min(noise, imm(2, UINT32))));
            block.ifThen(gt(noise, imm(2, UINT32)), piece -> piece.assign(gain, gain(piece, noise, gains)));
            Expr product = mul(wide(load(data, c)), wide(cast(UINT32, gain)));
            Expr snr = block.let("snr", cast(UINT32, shr(product, imm(control.snrShift()))));
            Expr quarter = shr(mul(snr, snr), imm(2L + FilterBankGainControl.SNR_BITS + less));
            Expr oneLess = sub(shr(snr, imm(less)), imm(1L << FilterBankGainControl.OUTPUT_BITS, UINT32));
            Expr isSmall = lt(snr, imm(2L << FilterBankGainControl.SNR_BITS, UINT32));
            block.store(buffers.output(), c, select(isSmall, quarter, oneLess));
        });
    }

    /** The {@link WideDynamicGain} of noise, for values above 2. */
    private static Expr gain(BlockBuilder block, Expr noise, Buffer gains) {
        Expr bits = block.let("bits", sub(imm(Integer.SIZE), zeros(noise)));
        Expr piece = block.let("piece", sub(mul(bits, WideDynamicGain.STRIDE), imm(WideDynamicGain.OFFSET)));
        Expr behind = behindHighest(noise, bits, WideDynamicGain.POSITION_BITS + 1);
        Expr mask = imm((1L << WideDynamicGain.POSITION_BITS) - 1, UINT32);
        Expr position = block.let("position", cast(INT32, bitAnd(behind, mask)));
        Expr second = shr(mul(load(gains, add(piece, 2)), position), imm(5));
        Expr slope = block.let("slope", add(second, mul(load(gains, add(piece, 1)), 32)));
        Expr rise = shr(
                add(mul(slope, position), 1L << (WideDynamicGain.FRACTION_BITS - 1)),
                imm(WideDynamicGain.FRACTION_BITS));
        return cast(INT16, add(load(gains, piece), rise));
    }

    private void log(BlockBuilder body, FilterBankLog log) {
        Buffer data = buffers.argument(0);
        Buffer above = buffers.tables().add("above", INT16, ScaledLogarithm.table());
        body.loop("c", channels, (block, c) -> {
            Expr shifted = block.let("shifted", shl(load(data, c), imm(log.correctionBits())));
            Expr.Var result = block.mutable("result", imm(0, UINT32));
            block.ifThen(gt(shifted, imm(1, UINT32)), b -> b.assign(result, logarithm(b, shifted, above, log)));
            Expr limited = Exprs.min(result, imm(INT16.max(), UINT32));
            block.store(buffers.output(), c, cast(INT16, limited));
        });
    }

    /** {@link ScaledLogarithm#of}. */
    private static Expr logarithm(BlockBuilder block, Expr value, Buffer above, FilterBankLog log) {
        int bits = ScaledLogarithm.BITS;
        Expr whole = block.let("whole", sub(imm(Integer.SIZE - 1), zeros(value)));
        Expr one = imm(1L << bits, UINT32);
        Expr fraction = block.let("fraction", cast(INT32, sub(behindHighest(value, whole, bits), one)));
        Expr segment = block.let("segment", shr(fraction, imm(ScaledLogarithm.POSITION_BITS)));
        Expr position = bitAnd(fraction, imm((1L << ScaledLogarithm.POSITION_BITS) - 1));
        Expr base = block.let("base", load(above, segment));
        Expr between = shr(mul(sub(load(above, add(segment, 1)), base), position), imm(bits));
        Expr log2 = block.let("log2", add(add(add(mul(whole, 1L << bits), fraction), base), between));
        Expr product = mul(wide(cast(UINT32, log2)), imm(ScaledLogarithm.LN_2, UINT64));
        Expr natural = shr(add(product, imm(1L << (bits - 1), UINT64)), imm(bits));
        Expr times = mul(block.let("natural", cast(UINT32, natural)), imm(log.outputScale(), UINT32));
        return shr(add(times, imm(1L << (bits - 1), UINT32)), imm(bits));
    }

    /** The number shifted so that its highest bit, of which the index is given, comes to stand at another. */
    private static Expr behindHighest(Expr value, Expr index, int wanted) {
        return select(lt(index, imm(wanted)), shl(value, sub(imm(wanted), index)), shr(value, sub(index, imm(wanted))));
    }

    private static Expr zeros(Expr value) {
        return new Expr.Call(Intrinsics.LEADING_ZEROS, List.of(value));
    }

    private static Expr wide(Expr value) {
        return cast(UINT64, value);
    }

    /** The sums of a filter bank, channel after channel: the sum over a channel's unweights goes to the next channel. */
    private static final class FilterBankSums {
        private final Binding binding;
        private final Tables tables;
        private final int channels;

        FilterBankSums(Binding binding, Tables tables) {
            this.binding = binding;
            this.tables = tables;
            this.channels = ((FilterBankAccumulate) binding.op()).channels();
        }

        void emit(BlockBuilder body, Buffer energies, Buffer output) {
            Buffer weights = table("weights", FilterBankAccumulate.WEIGHTS);
            Buffer unweights = table("unweights", FilterBankAccumulate.UNWEIGHTS);
            Buffer energyStarts = table("energy_starts", FilterBankAccumulate.ENERGY_STARTS);
            Buffer weightStarts = table("weight_starts", FilterBankAccumulate.WEIGHT_STARTS);
            Buffer widths = table("widths", FilterBankAccumulate.WIDTHS);
            Expr.Var sum = body.mutable("sum", imm(0, UINT64));
            body.loop("i", at(FilterBankAccumulate.WIDTHS, 0), (block, i) -> {
                Expr energy = load(energies, add(i, at(FilterBankAccumulate.ENERGY_STARTS, 0)));
                Expr weight = load(unweights, add(i, at(FilterBankAccumulate.WEIGHT_STARTS, 0)));
                block.assign(sum, add(sum, product(FilterBankAccumulate.UNWEIGHTS, weight, energy)));
            });
            body.loop("c", channels, (block, c) -> {
                Expr energyStart = block.let("energy_start", load(energyStarts, add(c, 1)));
                Expr weightStart = block.let("weight_start", load(weightStarts, add(c, 1)));
                Expr width = block.let("width", load(widths, add(c, 1)));
                Expr.Var next = block.mutable("next", imm(0, UINT64));
                block.loop("i", imm(0), width, (inner, i) -> {
                    Expr energy = inner.let("energy", load(energies, add(energyStart, i)));
                    Expr weight = load(weights, add(weightStart, i));
                    Expr unweight = load(unweights, add(weightStart, i));
                    inner.assign(sum, add(sum, product(FilterBankAccumulate.WEIGHTS, weight, energy)));
                    inner.assign(next, add(next, product(FilterBankAccumulate.UNWEIGHTS, unweight, energy)));
                });
                block.store(output, c, sum);
                block.assign(sum, next);
            });
        }

        private Buffer table(String name, int argument) {
            return tables.add(name, INT16, binding.constant(argument).data());
        }

        private int at(int argument, int index) {
            return (int) binding.constant(argument).integer(index);
        }

        /** Weights are nearly always positive: as unsigned numbers, one instruction multiplies them by 32 bits to 64. */
        private Expr product(int argument, Expr weight, Expr energy) {
            Constant values = binding.constant(argument);
            boolean positive = IntStream.range(0, values.elements()).allMatch(i -> values.integer(i) >= 0);
            return mul(cast(UINT64, positive ? cast(UINT32, weight) : weight), cast(UINT64, energy));
        }
    }
}
