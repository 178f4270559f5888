// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.gt;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.lt;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.select;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.FloatPrecision;
import io.kiln.ir.arith.RealRescaling.RealScale;
import io.kiln.ir.op.Rounding;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Intrinsic;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** The epilogue of an accumulator in the loops: requantization, zero point, limits, narrowing. */
public final class Epilogue {
    private final FusedOperator op;
    private final Optional<Rescaling> rescaling;
    private final Optional<StepTable> steps;
    private final Optional<UnaryOperator<Expr>> sumScale;

    /** Whether accumulators are int64, which are rounded once. */
    private final boolean isWide;

    /** Whether requantization only changes zero points. */
    private final boolean isShift;

    /** Largest magnitude of a requantized accumulator. */
    private final long most;

    /** An intrinsic that requantizes, and functions that give each of its constants for an output channel. */
    private record Rescaling(Intrinsic intrinsic, List<UnaryOperator<Expr>> constants) {
        Rescaling(Intrinsic intrinsic, UnaryOperator<Expr> multiplier, UnaryOperator<Expr> shift) {
            this(intrinsic, List.of(multiplier, shift));
        }

        Expr apply(Expr value, Expr channel) {
            List<Expr> arguments = new ArrayList<>(List.of(value));
            constants.forEach(constant -> arguments.add(constant.apply(channel)));
            return new Expr.Call(intrinsic, arguments);
        }
    }

    /**
     * Prepares the tables of per-channel multipliers.
     *
     * @param bound largest magnitude of the accumulator; the fast rescaling is used where it is proven exact
     * @param tables receives the multipliers and shifts
     */
    public Epilogue(FusedOperator op, long bound, Tables tables) {
        this.op = op;
        this.isWide = op.sumType() == DType.INT64;
        this.isShift =
                !isWide && op.requantization().filter(r -> isShift(r, bound)).isPresent();
        this.most = op.requantization()
                .map(r -> isWide ? 1L << 31 : r.largest(bound))
                .orElse(0L);
        this.rescaling = op.requantization()
                .flatMap(r -> isWide ? Optional.of(prepareWide(r, bound, tables)) : prepare(r, bound, tables));
        this.steps = op.requantization().filter(r -> rescaling.isEmpty()).map(r -> StepTable.of(r, bound, tables));
        this.sumScale = op.sumScale().map(scale -> perChannel(scale, tables));
    }

    /** Chooses the arithmetic that requantizes the accumulator; empty if only the accumulators at which the result steps are known. */
    private Optional<Rescaling> prepare(Requantization r, long bound, Tables tables) {
        boolean isOf16 =
                op.rootTypes().get(0).dtype() == DType.INT16 && op.type().dtype() == DType.INT8;
        if (isDouble(r)) {
            Optional<Rescaling> floor = r.outDtype() == DType.INT8 ? floor(r, bound, tables) : Optional.empty();
            return floor.or(() -> Optional.of(inDouble(r, tables)));
        }
        if (r.rounding() == Rounding.ONNX || (isOf16 && r.rounding() == Rounding.TFLITE && isFast(r, bound))) {
            Optional<Rescaling> floor = floor(r, bound, tables);
            if (floor.isPresent() || !r.real().isEmpty()) {
                return floor;
            }
        }
        return Optional.of(inSteps(r, bound, tables));
    }

    /** Requantization in the reference's own steps; for ONNX Runtime, its single precision computed in integers. */
    private static Rescaling inSteps(Requantization r, long bound, Tables tables) {
        boolean isFast = r.rounding() == Rounding.TFLITE && isFast(r, bound);
        boolean isLeft = r.rounding() == Rounding.TFLITE && !isFast;
        long most = bound + Math.abs((long) r.inputZeroPoint());
        Intrinsic intrinsic = switch (r.rounding()) {
            case TFLITE -> isFast ? RequantizeCalls.fast(r.multipliers(), most) : Intrinsics.RESCALE_ANY;
            case UPWARD -> Intrinsics.RESCALE_UPWARD;
            case ONNX -> Intrinsics.RESCALE_SINGLE;
            default -> Intrinsics.RESCALE_TO_NEAREST;
        };
        return new Rescaling(
                intrinsic,
                perChannel(r.multipliers(), "multiplier", DType.INT32, tables),
                perChannel(map(r.shifts(), s -> isFast ? -s : isLeft ? s : 31 - s), "shift", DType.INT8, tables));
    }

    /** One multiplication that is proven to give the reference's results; empty if none is found. */
    private Optional<Rescaling> floor(Requantization r, long bound, Tables tables) {
        int channels = r.multipliers().size();
        Limits limits = Limits.of(op);
        ProvenRequantize.Reference reference = new ProvenRequantize.Reference(
                r, Collections.nCopies(channels, 0), (int) limits.low(), (int) limits.high());
        long most = Math.min(bound, Integer.MAX_VALUE - Math.abs((long) r.inputZeroPoint()));
        return FloorRequantize.find(reference, channels, most).map(found -> floor(found, tables));
    }

    private static Rescaling floor(FloorRequantize rescale, Tables tables) {
        List<FloorRequantize.Channel> channels = rescale.channels();
        List<Integer> multipliers =
                channels.stream().map(FloorRequantize.Channel::multiplier).toList();
        List<Integer> shifts =
                channels.stream().map(FloorRequantize.Channel::shift).toList();
        long[] offsets =
                channels.stream().mapToLong(FloorRequantize.Channel::offset).toArray();
        return new Rescaling(
                Intrinsics.RESCALE_FLOOR,
                List.of(
                        perChannel(multipliers, "multiplier", DType.INT32, tables),
                        perChannel(offsets, "offset", tables),
                        perChannel(shifts, "shift", DType.INT8, tables)));
    }

    private static boolean isDouble(Requantization r) {
        return !r.real().isEmpty()
                && r.real().stream().allMatch(f -> f instanceof RealScale s && s.precision() == FloatPrecision.DOUBLE);
    }

    /** Requantization by a product of double precision, computed step by step in integers. */
    private static Rescaling inDouble(Requantization r, Tables tables) {
        List<RealScale> scales = r.real().stream().map(RealScale.class::cast).toList();
        long[] multipliers = scales.stream().mapToLong(RealScale::multiplier).toArray();
        List<Integer> shifts = scales.stream().map(RealScale::shift).toList();
        return new Rescaling(
                Intrinsics.RESCALE_REAL,
                perChannel(multipliers, "multiplier", tables),
                perChannel(shifts, "shift", DType.INT8, tables));
    }

    private Rescaling prepareWide(Requantization r, long bound, Tables tables) {
        return isDouble(r) ? inDouble(r, tables) : prepareWide(Int16Requantize.of(op, r, bound), tables);
    }

    private static Rescaling prepareWide(Int16Requantize by, Tables tables) {
        if (by.shifts().isEmpty()) {
            return new Rescaling(
                    by.intrinsic(), List.of(perChannel(by.multipliers(), "multiplier", DType.INT32, tables)));
        }
        return new Rescaling(
                by.intrinsic(),
                perChannel(by.multipliers(), "multiplier", DType.INT16, tables),
                perChannel(by.shifts(), "shift", DType.INT8, tables));
    }

    /** Whether requantization multiplies by 1, which is exact where the doubled accumulator stays within 32 bits. */
    private static boolean isShift(Requantization requantization, long bound) {
        return requantization.rounding() == Rounding.TFLITE
                && requantization.multipliers().equals(List.of(1 << 30))
                && requantization.shifts().equals(List.of(1))
                && bound + Math.abs((long) requantization.inputZeroPoint()) <= Integer.MAX_VALUE / 2;
    }

    /** A literal if all channels agree, otherwise a table indexed by the channel. */
    private static UnaryOperator<Expr> perChannel(List<Integer> values, String name, DType dtype, Tables tables) {
        if (values.stream().distinct().count() == 1) {
            Expr literal = imm((long) values.get(0));
            return channel -> literal;
        }
        Buffer table = tables.add(name, dtype, values.stream().mapToInt(v -> v).toArray());
        return channel -> load(table, channel);
    }

    private static UnaryOperator<Expr> perChannel(long[] values, String name, Tables tables) {
        if (LongStream.of(values).distinct().count() == 1) {
            Expr literal = imm(values[0], DType.INT64);
            return channel -> literal;
        }
        Buffer table = tables.add(name, values);
        return channel -> load(table, channel);
    }

    private static UnaryOperator<Expr> perChannel(Constant scale, Tables tables) {
        if (scale.elements() == 1) {
            Expr literal = imm(scale.real(0));
            return channel -> literal;
        }
        Buffer table = tables.add("scale", DType.FLOAT32, scale.data());
        return channel -> load(table, channel);
    }

    private static List<Integer> map(List<Integer> values, UnaryOperator<Integer> function) {
        return values.stream().map(function).toList();
    }

    /**
     * Whether {@link Intrinsics#RESCALE} computes the same: shifts go right by at least one, and the rounded product plus
     * half of the divisor stays within 32 bits.
     */
    static boolean isFast(QuantizedMultiplier by, long bound) {
        int right = -by.shift();
        if (right < 1 || bound > Integer.MAX_VALUE) {
            return false;
        }
        long high = ((bound * Math.abs((long) by.multiplier())) >> 31) + 1;
        return high + (1L << (right - 1)) + 1 <= Integer.MAX_VALUE;
    }

    /**
     * Whether requantizing accumulators of a largest magnitude needs no saturation in TFLite's arithmetic: shifts go right by at
     * least one in every channel, and no step leaves 32 bits.
     */
    public static boolean isFast(Requantization requantization, long bound) {
        return requantization.rounding() == Rounding.TFLITE
                && IntStream.range(0, requantization.shifts().size())
                        .allMatch(i -> isFast(
                                new QuantizedMultiplier(
                                        requantization.multipliers().get(i),
                                        requantization.shifts().get(i)),
                                bound + Math.abs((long) requantization.inputZeroPoint())));
    }

    /**
     * Emits the statements that turn an accumulator into an element of the output.
     *
     * @param suffix makes names unique where several accumulators end in one block
     * @param channel index of the output channel
     */
    public void store(BlockBuilder block, String suffix, Expr accumulator, Expr channel, Buffer output, Expr index) {
        block.store(output, index, value(block, suffix, accumulator, channel));
    }

    /** Emits the same computation as {@link #store}, and returns the element in place of storing it. */
    public Expr value(BlockBuilder block, String suffix, Expr accumulator, Expr channel) {
        if (op.type().dtype().isFloat()) {
            return limitFloat(
                    block,
                    suffix,
                    sumScale.map(s -> mul(accumulator, s.apply(channel))).orElse(accumulator));
        }
        Expr result = accumulator;
        if (isShift) {
            Requantization r = op.requantization().orElseThrow();
            int shift = r.outputZeroPoint() - r.inputZeroPoint();
            result = add(cast(DType.INT32, accumulator), imm(shift));
            if (staysInside(shift)) {
                return result;
            }
        } else if (steps.isPresent()) {
            result = steps.orElseThrow().result(block, suffix, accumulator, channel);
        } else if (rescaling.isPresent()) {
            Requantization r = op.requantization().orElseThrow();
            Rescaling by = rescaling.orElseThrow();
            DType sum = by.intrinsic().parameters().get(0);
            Expr centred = sub(cast(sum, accumulator), imm(r.inputZeroPoint(), sum));
            Expr rescaled = by.apply(centred, channel);
            result = RequantizeCalls.plus(rescaled, r.outputZeroPoint(), most);
        }
        return limit(block.let("value" + suffix, result));
    }

    /** Whether every element of the operator's input, if it is only a requantization, is in the output's range after a shift. */
    private boolean staysInside(int shift) {
        DType in = op.sumType();
        Limits limits = Limits.of(op);
        return in.bytes() == 1 && in.min() + shift >= limits.low() && in.max() + shift <= limits.high();
    }

    private Expr limit(Expr value) {
        DType dtype = op.type().dtype();
        if ((dtype == DType.INT32 || dtype == DType.INT64) && op.clip().isEmpty()) {
            return value;
        }
        Limits limits = Limits.of(op);
        if (limits.low() == Byte.MIN_VALUE && limits.high() == Byte.MAX_VALUE) {
            return new Expr.Call(Intrinsics.SATURATE_8, List.of(value));
        }
        return limits.low() == Short.MIN_VALUE && limits.high() == Short.MAX_VALUE
                ? new Expr.Call(Intrinsics.SATURATE_16, List.of(value))
                : new Expr.Call(Intrinsics.CLAMP, List.of(value, imm(limits.low()), imm(limits.high())));
    }

    /** Limits a float to the range of the clip; NaN passes through because of the order of the comparisons. */
    private Expr limitFloat(BlockBuilder block, String suffix, Expr value) {
        if (op.clip().isEmpty()) {
            return value;
        }
        float low = (float) op.clip().orElseThrow().min();
        float high = (float) op.clip().orElseThrow().max();
        Expr limited = value;
        if (low > -Float.MAX_VALUE) {
            Expr lower = block.let("value" + suffix, limited);
            limited = low <= 0
                    ? new Expr.Call(Intrinsics.AT_LEAST, List.of(lower, imm(low)))
                    : select(lt(lower, imm(low)), imm(low), lower);
        }
        if (high < Float.MAX_VALUE) {
            Expr upper = block.let("limited" + suffix, limited);
            limited = select(gt(upper, imm(high)), imm(high), upper);
        }
        return limited;
    }

    /**
     * A requantization to int8 as a search in a table of the accumulators at which a channel's result steps, for those that no
     * multiplication reproduces.
     *
     * @param steps the steps of all channels, ascending in each
     * @param isPerChannel whether channels have steps of their own
     */
    private record StepTable(Buffer steps, boolean isPerChannel) {
        private static final int STEPS = Byte.MAX_VALUE - Byte.MIN_VALUE;

        /**
         * The table of a requantization of accumulators that have no zero point.
         *
         * @param bound largest magnitude of the sums
         */
        static StepTable of(Requantization r, long bound, Tables tables) {
            int channels = r.multipliers().size();
            ProvenRequantize.Reference reference =
                    new ProvenRequantize.Reference(r, Collections.nCopies(channels, 0), Byte.MIN_VALUE, Byte.MAX_VALUE);
            long most = Math.min(bound, Integer.MAX_VALUE);
            long[] steps = IntStream.range(0, channels)
                    .mapToObj(c -> RequantizeSteps.of(reference, c, most))
                    .flatMapToLong(LongStream::of)
                    .toArray();
            boolean areWords = most < Integer.MAX_VALUE;
            Buffer table = areWords
                    ? tables.add(
                            "steps",
                            DType.INT32,
                            LongStream.of(steps).mapToInt(s -> (int) s).toArray())
                    : tables.add("steps", steps);
            return new StepTable(table, channels > 1);
        }

        /** Emits the result, with its zero point, for an accumulator. */
        Expr result(BlockBuilder block, String suffix, Expr sum, Expr channel) {
            Expr value = block.let("sum_of" + suffix, cast(steps.dtype(), sum));
            Expr first = block.let("first" + suffix, isPerChannel ? mul(channel, STEPS) : imm(0));
            return add(StepSearch.of(block, suffix, steps, first, STEPS, value), Byte.MIN_VALUE);
        }
    }
}
