// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu.model;

import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** A feature map of a test: its values, and how it lies in the arena, in one to four tiles and either layout. */
final class NpuMap {
    /** Where the registers of a map begin, of each kind. */
    record Registers(int region, int width0, int zeroPoint, int base0, int strideX) {
        static final Registers IFM = new Registers(0x10f, 0x10a, 0x109, 0x000, 0x004);
        static final Registers OFM = new Registers(0x11f, 0x11a, 0x118, 0x010, 0x014);
        static final Registers IFM2 = new Registers(0x18f, 0x18a, 0x189, 0x080, 0x084);
    }

    /** Elements. */
    record Type(int bytes, boolean isSigned) {
        int least() {
            return isSigned ? (int) -(1L << (8 * bytes - 1)) : 0;
        }

        int most() {
            return (int) ((1L << (8 * bytes - (isSigned ? 1 : 0))) - 1);
        }

        int drawn(Random random) {
            return bytes == 4 ? random.nextInt() >> random.nextInt(31) : least() + random.nextInt(most() - least() + 1);
        }
    }

    /** A size. */
    record Size(int height, int width, int depth) {
        int elements() {
            return height * width * depth;
        }
    }

    private final Size size;
    private final Type type;
    private final int zero;
    private final boolean isBlocked;
    private final int width0;
    private final int height0;
    private final int height1;
    private final int strideX;
    private final int strideY;
    private final int strideC;
    private final int[] bases = new int[4];
    private final long[] values;

    /** A map of random layout, values and zero point, which is 0 if elements have 32 bits; some lie with their last row first. */
    NpuMap(Size size, Type type, NpuArena arena, Random random) {
        this.size = size;
        this.type = type;
        this.zero = type.bytes() == 4 ? 0 : new Type(1, type.isSigned()).drawn(random);
        this.isBlocked = random.nextBoolean();
        boolean isTiled = random.nextInt(3) == 0;
        this.width0 = isTiled ? random.nextInt(size.width()) : size.width() - 1;
        this.height0 = isTiled ? random.nextInt(size.height()) : size.height() - 1;
        this.height1 = isTiled ? random.nextInt(size.height()) : size.height() - 1;
        int blocks = (size.depth() + 15) / 16;
        this.strideX = (isBlocked ? 16 : size.depth() + random.nextInt(3)) * type.bytes();
        this.strideC = isBlocked ? size.width() * strideX : 0;
        int rowBytes = isBlocked ? blocks * strideC : size.width() * strideX;
        boolean isReversed = !isTiled && random.nextInt(4) == 0;
        this.strideY = isReversed ? -rowBytes : rowBytes;
        for (int tile = 0; tile < bases.length; tile++) {
            bases[tile] = arena.allocate(size.height() * rowBytes + (isBlocked ? 0 : size.depth() * type.bytes()));
        }
        bases[0] += isReversed ? (size.height() - 1) * rowBytes : 0;
        this.values = new long[size.elements()];
        Arrays.setAll(values, i -> type.drawn(random));
    }

    Size size() {
        return size;
    }

    Type type() {
        return type;
    }

    int zero() {
        return zero;
    }

    int base() {
        return bases[0];
    }

    long get(int y, int x, int c) {
        return values[(y * size.width() + x) * size.depth() + c];
    }

    void set(int y, int x, int c, long value) {
        values[(y * size.width() + x) * size.depth() + c] = value;
    }

    private int address(int y, int x, int c) {
        boolean isRight = x > width0;
        int limit = isRight ? height1 : height0;
        boolean isBelow = y > limit;
        int row = isBelow ? y - limit - 1 : y;
        int column = isRight ? x - width0 - 1 : x;
        int depth = isBlocked ? c / 16 * strideC + c % 16 * type.bytes() : c * type.bytes();
        return bases[(isRight ? 1 : 0) + (isBelow ? 2 : 0)] + row * strideY + column * strideX + depth;
    }

    /** Puts the values in the arena. */
    void put(NpuArena arena) {
        for (int i = 0; i < values.length; i++) {
            arena.put(address(i), type.bytes(), values[i]);
        }
    }

    /** Takes the values of an arena. */
    List<Long> take(NpuArena arena) {
        long[] taken = new long[values.length];
        Arrays.setAll(taken, i -> arena.get(address(i), type));
        return Arrays.stream(taken).boxed().toList();
    }

    private int address(int element) {
        int depth = size.depth();
        return address(element / depth / size.width(), element / depth % size.width(), element % depth);
    }

    long[] values() {
        return values.clone();
    }

    /** Sets the registers of the map other than its size and precision. */
    void describe(NpuStream stream, Registers at) {
        stream.set(at.region(), 1)
                .all(at.width0(), List.of(width0, height0, height1))
                .set(at.zeroPoint(), zero & 0xffff)
                .wide(at.base0(), List.of(bases[0], bases[1], bases[2], bases[3]))
                .set(at.strideX(), 0, strideX)
                .set(at.strideX() + 1, strideY < 0 ? 0xff : 0, strideY)
                .set(at.strideX() + 2, 0, strideC);
    }

    /** The bits of an input's precision register. */
    int inputPrecision() {
        return sign() | log2() << 2 | layout();
    }

    /** The bits of an output's precision register. */
    int outputPrecision() {
        return sign() | log2() << 1 | layout();
    }

    private int sign() {
        return type.isSigned() ? 1 : 0;
    }

    private int log2() {
        return Integer.numberOfTrailingZeros(type.bytes());
    }

    private int layout() {
        return isBlocked ? 1 << 6 : 0;
    }
}
