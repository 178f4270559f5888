// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu.model;

import java.math.BigInteger;
import java.util.Random;

/** An operation on each element of a test, computed with numbers of any size. */
final class NpuElementwise {
    private static final int REVERSED = 0x40;
    private static final int SCALAR = 0x80;
    private static final BigInteger MOST = BigInteger.ONE.shiftLeft(60);

    /** A function, with the hardware's number for it. */
    enum Function {
        MUL(0),
        ADD(1),
        SUB(2),
        MIN(3),
        MAX(4),
        LRELU(5),
        ABS(6),
        CLZ(7),
        SHR(8),
        SHL(9);

        private final int code;

        Function(int code) {
            this.code = code;
        }

        int code() {
            return code;
        }

        static Function drawn(Random random) {
            return values()[random.nextInt(values().length)];
        }

        /** Functions of bits, for elements of 32 bits. */
        boolean isWide() {
            return compareTo(CLZ) >= 0;
        }

        private boolean isSum() {
            return this == ADD || this == SUB;
        }

        /** Zero points stay in the operands. */
        private boolean isExtreme() {
            return this == MIN || this == MAX;
        }

        private boolean isUnary() {
            return this == LRELU || this == ABS || this == CLZ;
        }
    }

    /**
     * The second operand.
     *
     * @param broadcast bits: the operand has one row, one column, one channel
     */
    record Second(int broadcast, boolean isReversed, boolean isScalar, int scalar) {
        static Second drawn(NpuMap.Size size, NpuMap.Type type, Random random) {
            return new Second(
                    random.nextInt(8),
                    random.nextInt(4) == 0,
                    size.elements() % 4 == 0,
                    new NpuMap.Type(Math.min(2, type.bytes()), type.isSigned()).drawn(random));
        }

        /** Index of the operand's element. */
        private int at(int bit, int index) {
            return (broadcast >> bit & 1) != 0 ? 0 : index;
        }

        NpuMap.Size size(NpuMap.Size size) {
            return new NpuMap.Size(
                    at(0, size.height() - 1) + 1, at(1, size.width() - 1) + 1, at(2, size.depth() - 1) + 1);
        }
    }

    private final Function function;
    private final NpuMap ifm;
    private final NpuMap ifm2;
    private final Second second;
    private final int scaled;
    private final int multiplierA;
    private final int rounding;
    private final int shiftA;
    private final int multiplierB;

    NpuElementwise(Function function, NpuMap ifm, NpuMap ifm2, Second second, Random random) {
        this.function = function;
        this.ifm = ifm;
        this.ifm2 = ifm2;
        this.second = second;
        this.scaled = function.isSum() && !isWide() ? random.nextInt(3) : 0;
        this.multiplierA = (1 + random.nextInt((1 << 15) - 1)) << (scaled > 0 ? 16 : 0);
        this.rounding = random.nextInt(3);
        this.shiftA = 20 + random.nextInt(12);
        this.multiplierB = 1 + random.nextInt(1 << 15);
    }

    private boolean isWide() {
        return ifm.type().bytes() == 4;
    }

    /** Bits of the IFM's precision: which operand of a sum has a scale of 32 bits, 0 none, 1 the first, 2 the second; its rounding. */
    int precisionBits() {
        return scaled << 8 | rounding << 14;
    }

    /** A shift of the result for which few results meet the limits of their type. */
    int drawnShift(Random random) {
        if (isWide()) {
            return random.nextInt(32);
        }
        return scaled > 0 ? 49 + random.nextInt(4) : 34 + random.nextInt(8);
    }

    void describe(NpuStream stream) {
        ifm2.describe(stream, NpuMap.Registers.IFM2);
        stream.set(NpuStream.IFM_UPSCALE, 0)
                .set(NpuStream.IFM2_PRECISION, ifm2.inputPrecision())
                .set(
                        NpuStream.IFM2_BROADCAST,
                        second.broadcast() | (second.isReversed() ? REVERSED : 0) | (second.isScalar() ? SCALAR : 0))
                .set(NpuStream.IFM2_SCALAR, second.scalar() & 0xffff)
                .set(NpuStream.OPA_SCALE, shiftA, multiplierA)
                .set(NpuStream.OPB_SCALE, 0, multiplierB);
    }

    /** What lies in memory for an element. */
    long stored(NpuResult result, int y, int x, int c) {
        long first = ifm.get(y, x, c);
        long other = second.isScalar() ? second.scalar() : ifm2.get(second.at(0, y), second.at(1, x), second.at(2, c));
        if (!function.isExtreme()) {
            first -= ifm.zero();
            other -= ifm2.zero();
        }
        boolean isSwapped = second.isReversed() && !function.isUnary();
        long a = isSwapped ? other : first;
        long b = isSwapped ? first : other;
        BigInteger value = function.isSum() && !isWide() ? sum(a, b) : BigInteger.valueOf(plain(a, b));
        if (function.compareTo(Function.SUB) <= 0
                || function == Function.ABS
                || (function == Function.LRELU && a < 0)) {
            value = result.round(value, isWide() ? 1 : result.multiplier(), result.shift());
        }
        return result.stored(value.min(MOST).max(MOST.negate()).longValueExact(), !function.isExtreme());
    }

    private BigInteger sum(long a, long b) {
        BigInteger first = BigInteger.valueOf(a);
        BigInteger other = BigInteger.valueOf(b);
        int power = ifm.type().bytes() == 1 ? 20 : 15;
        if (scaled == 0) {
            first = first.multiply(BigInteger.valueOf(multiplierA));
            other = other.multiply(BigInteger.valueOf(multiplierB));
        } else if (scaled == 1) {
            first = NpuResult.round(rounding, first.shiftLeft(power), multiplierA, shiftA + power);
            other = other.shiftLeft(power - 1);
        } else {
            other = NpuResult.round(rounding, other.shiftLeft(power), multiplierA, shiftA + power);
            first = first.shiftLeft(power - 1);
        }
        return function == Function.ADD ? first.add(other) : first.subtract(other);
    }

    private long plain(long a, long b) {
        return switch (function) {
            case MUL -> a * b;
            case ADD -> a + b;
            case SUB -> a - b;
            case MIN -> Math.min(a, b);
            case MAX -> Math.max(a, b);
            case LRELU -> a;
            case ABS -> Math.abs(a);
            case CLZ -> Integer.numberOfLeadingZeros((int) a);
            case SHR -> {
                int distance = (int) Math.max(0, Math.min(32, b));
                yield distance == 0 ? a : (a + (1L << (distance - 1))) >> distance;
            }
            case SHL -> b >= 32 ? 0 : (int) a << (int) Math.max(0, b);
        };
    }

    @Override
    public String toString() {
        return function + " of " + ifm.type() + " scaled " + scaled + " " + second;
    }
}
