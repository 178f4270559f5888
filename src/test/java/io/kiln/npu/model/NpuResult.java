// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu.model;

import java.math.BigInteger;
import java.util.Random;

/** The end of a test's operation, computed with numbers of any size: scale, zero point, limits, table. */
final class NpuResult {
    private static final int TFL = 0;
    private static final int TRUNCATE = 1;
    private static final int TABLE_BYTES = 2048;
    private static final int INSIDE = 0x100;
    private static final int INT8 = 3;

    private final NpuMap ofm;
    private final int rounding;
    private final long multiplier;
    private final int shift;
    private final int low;
    private final int high;
    private final int slot;
    private final int index;
    private final byte[] table;

    /** Draws one; a third of them have a table. */
    NpuResult(NpuMap ofm, int shift, Random random) {
        this.ofm = ofm;
        this.rounding = random.nextInt(3);
        this.multiplier = (1L << 30) + random.nextInt(1 << 30);
        this.shift = shift;
        NpuMap.Type limits =
                new NpuMap.Type(Math.min(2, ofm.type().bytes()), ofm.type().isSigned());
        int first = limits.drawn(random);
        int second = limits.drawn(random);
        boolean isLimited = random.nextInt(3) == 0;
        this.low = isLimited ? Math.min(first, second) : limits.least();
        this.high = isLimited ? Math.max(first, second) : limits.most();
        int size = tableSize();
        this.slot = random.nextInt(3) == 0 ? random.nextInt(TABLE_BYTES / size) : -1;
        this.index = slot * (random.nextBoolean() ? 1 : size / 256);
        this.table = new byte[size];
        random.nextBytes(table);
    }

    private int tableSize() {
        return switch (ofm.type().bytes()) {
            case 1 -> 256;
            case 2 -> TABLE_BYTES;
            default -> 4 * 256;
        };
    }

    int shift() {
        return shift;
    }

    long multiplier() {
        return multiplier;
    }

    /** Sets the registers, and brings the table into the NPU. */
    void describe(NpuStream stream, NpuArena flash, int config, boolean isGlobal) {
        NpuMap.Size size = ofm.size();
        ofm.describe(stream, NpuMap.Registers.OFM);
        stream.set(NpuStream.OFM_WIDTH_M1, size.width() - 1)
                .set(NpuStream.OFM_WIDTH_M1 + 1, size.height() - 1)
                .set(NpuStream.OFM_WIDTH_M1 + 2, size.depth() - 1)
                .set(NpuStream.OFM_PRECISION, ofm.outputPrecision() | (isGlobal ? 1 << 8 : 0) | rounding << 14)
                .set(NpuStream.OFM_SCALE, shift, (int) multiplier)
                .set(
                        NpuStream.ACTIVATION,
                        slot < 0 ? 0 : 16 + index | (ofm.type().bytes() == 4 ? INT8 << 12 : 0))
                .set(NpuStream.ACTIVATION + 1, low & 0xffff)
                .set(NpuStream.ACTIVATION + 2, high & 0xffff);
        if (slot >= 0) {
            int cores = (config & 15) == 9 ? 2 : 1;
            int at = ((config >> 8 & 0xff) / cores - 2) * 1024 + slot * table.length;
            stream.set(NpuStream.DMA0_SRC_REGION, 0)
                    .set(NpuStream.DMA0_SRC_REGION + 1, INSIDE)
                    .set(NpuStream.DMA0_SRC, 0, flash.add(table))
                    .set(NpuStream.DMA0_SRC + 1, 0, at)
                    .set(NpuStream.DMA0_SRC + 2, 0, table.length)
                    .set(NpuStream.DMA_START, 0);
        }
    }

    long scaled(long value) {
        return round(BigInteger.valueOf(value), multiplier, shift).longValueExact();
    }

    BigInteger round(BigInteger value, long by, int places) {
        return round(rounding, value, by, places);
    }

    /** 0 TensorFlow Lite's rounding, in the two steps of its kernels where these are defined; 1 toward zero; 2 half up. */
    static BigInteger round(int rounding, BigInteger value, long by, int places) {
        BigInteger product = value.multiply(BigInteger.valueOf(by));
        if (rounding == TFL && places >= 31 && value.bitLength() < 32 && by < 1L << 31) {
            BigInteger nudge = BigInteger.ONE.shiftLeft(30);
            nudge = product.signum() < 0 ? BigInteger.ONE.subtract(nudge) : nudge;
            BigInteger high = product.add(nudge).divide(BigInteger.ONE.shiftLeft(31));
            return halfAwayFromZero(high, places - 31);
        }
        if (rounding == TRUNCATE) {
            return product.divide(BigInteger.ONE.shiftLeft(places));
        }
        BigInteger half = places == 0 ? BigInteger.ZERO : BigInteger.ONE.shiftLeft(places - 1);
        if (rounding == TFL && places > 31) {
            BigInteger more = BigInteger.ONE.shiftLeft(30);
            half = value.signum() < 0 ? half.subtract(more) : half.add(more);
        }
        return product.add(half).shiftRight(places);
    }

    private static BigInteger halfAwayFromZero(BigInteger value, int places) {
        if (places == 0) {
            return value;
        }
        BigInteger rounded =
                value.abs().add(BigInteger.ONE.shiftLeft(places - 1)).shiftRight(places);
        return value.signum() < 0 ? rounded.negate() : rounded;
    }

    /** What lies in memory for a result. */
    long stored(long result, boolean addsZero) {
        if (ofm.type().bytes() == 4 && slot < 0) {
            return clamp(result, Integer.MIN_VALUE, Integer.MAX_VALUE);
        }
        NpuMap.Type limits = ofm.type().bytes() == 4 ? new NpuMap.Type(1, true) : ofm.type();
        long value = clamp(result + (addsZero ? ofm.zero() : 0), low, high);
        value = clamp(value, limits.least(), limits.most());
        return slot < 0 ? value : lookedUp(value, limits);
    }

    private long lookedUp(long value, NpuMap.Type limits) {
        NpuArena memory = new NpuArena(table);
        int index = (int) value - limits.least();
        if (ofm.type().bytes() != 2) {
            return memory.get(ofm.type().bytes() * index, ofm.type());
        }
        long base = memory.get(index / 128 * 4, ofm.type());
        long slope = memory.get(index / 128 * 4 + 2, new NpuMap.Type(2, true));
        long between = Math.floorDiv(slope * (index % 128) + 64, 128);
        return clamp(base + between, limits.least(), limits.most());
    }

    private static long clamp(long value, long low, long high) {
        return Math.max(low, Math.min(high, value));
    }
}
