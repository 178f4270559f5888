// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu.model;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** Draws operations of all kinds, and computes what each must leave in memory by formulas of its own. */
final class NpuDraw {
    private static final int SCALE_BYTES = 10;
    private static final List<String> FUNCTIONS =
            List.of("MUL", "ADD", "SUB", "MIN", "MAX", "LRELU", "ABS", "CLZ", "SHR", "SHL");

    private final int config;
    private final Random random;
    private final NpuArena flash = new NpuArena();
    private final NpuArena arena = new NpuArena();
    private final NpuStream stream = new NpuStream();
    private final List<Drawn> drawn = new ArrayList<>();

    /** An operation: what it is, where its command stands in the payload, what it leaves. */
    record Drawn(String text, int offset, NpuMap ofm, long[] expected) {}

    NpuDraw(int config, Random random) {
        this.config = config;
        this.random = random;
    }

    List<Drawn> drawn() {
        return drawn;
    }

    /** The job, which takes the whole arena out. */
    NpuJob job() {
        byte[] content = arena.bytes();
        return new NpuJob(config)
                .region(flash.bytes().length, flash.bytes())
                .region(content.length, content)
                .payload(stream.payload(config))
                .take(1, 0, content.length)
                .run(List.of());
    }

    private NpuMap map(NpuMap.Size size, NpuMap.Type type) {
        NpuMap map = new NpuMap(size, type, arena, random);
        map.put(arena);
        return map;
    }

    private NpuMap.Size size(int depth) {
        return new NpuMap.Size(1 + random.nextInt(7), 1 + random.nextInt(7), 1 + random.nextInt(depth));
    }

    private NpuMap.Type type(int... bytes) {
        int size = bytes[random.nextInt(bytes.length)];
        return new NpuMap.Type(size, size > 1 || random.nextBoolean());
    }

    private NpuWindow window(NpuMap.Size output) {
        NpuWindow window = NpuWindow.drawn(random);
        while (!window.fits(output)) {
            window = NpuWindow.drawn(random);
        }
        return window;
    }

    private void add(String text, int opcode, int function, NpuMap ofm, Value value) {
        NpuMap.Size size = ofm.size();
        for (int y = 0; y < size.height(); y++) {
            for (int x = 0; x < size.width(); x++) {
                for (int c = 0; c < size.depth(); c++) {
                    ofm.set(y, x, c, value.at(y, x, c));
                }
            }
        }
        drawn.add(new Drawn(text, stream.offset(), ofm, ofm.values()));
        stream.set(opcode, function);
    }

    /** An element of the OFM. */
    private interface Value {
        long at(int y, int x, int c);
    }

    private void input(NpuMap ifm, int moreBits) {
        ifm.describe(stream, NpuMap.Registers.IFM);
        stream.set(NpuStream.IFM_PRECISION, ifm.inputPrecision() | moreBits)
                .set(NpuStream.IFM_DEPTH_M1, ifm.size().depth() - 1);
    }

    /** A convolution: each core has every second output channel, and streams of its own. */
    void convolution(boolean isDepthwise) {
        NpuMap ofm = map(size(20), type(1, 1, 2, 4));
        NpuWindow window = window(ofm.size());
        int inputs = isDepthwise ? ofm.size().depth() : 1 + random.nextInt(40);
        NpuMap ifm = map(window.input(ofm.size(), inputs), type(1, 1, 2));
        NpuResult result = new NpuResult(ofm, 36 + random.nextInt(8), random);
        int microDepth = (config & 15) == 5 ? 4 : 8;
        int cores = (config & 15) == 9 ? 2 : 1;
        int block = microDepth * cores * (1 + random.nextInt(3));
        NpuWeights weights = new NpuWeights(ofm.size().depth(), window, isDepthwise ? 1 : inputs, random);
        long[] biases = random.longs(ofm.size().depth(), -(1L << 20), 1L << 20).toArray();
        input(ifm, 0);
        window.describe(stream);
        result.describe(stream, flash, config, false);
        stream.set(NpuStream.OFM_BLK_DEPTH_M1, block - 1)
                .set(NpuStream.PARALLEL_MODE, cores - 1)
                .set(NpuStream.WEIGHT_REGION, 0)
                .set(NpuStream.SCALE_REGION, 0);
        NpuWeights.Order order = NpuWeights.Order.of(window, ifm, isDepthwise, microDepth);
        for (int core = 0; core < cores; core++) {
            List<Integer> outputs = every(core, cores, ofm.size().depth());
            byte[] coded = weights.stream(outputs, (block + cores - 1 - core) / cores, order);
            byte[] scales = scales(outputs, biases, result);
            stream.wide(
                    core == 0 ? NpuStream.WEIGHT_BASE : NpuStream.WEIGHT1_BASE,
                    List.of(flash.add(coded), coded.length));
            stream.wide(
                    core == 0 ? NpuStream.SCALE_BASE : NpuStream.SCALE1_BASE,
                    List.of(flash.add(scales), scales.length));
        }
        add(
                (isDepthwise ? "depthwise " : "convolution ") + window + " of " + ifm.size() + ifm.type(),
                isDepthwise ? NpuStream.DEPTHWISE : NpuStream.CONVOLUTION,
                0,
                ofm,
                (y, x, c) -> {
                    long[] sum = {biases[c]};
                    for (int i = 0; i < (isDepthwise ? 1 : inputs); i++) {
                        int input = i;
                        window.look(
                                ifm,
                                ofm.size(),
                                new int[] {y, x, isDepthwise ? c : i},
                                (row, column, value) -> sum[0] += value * weights.get(c, row, column, input));
                    }
                    return result.stored(result.scaled(sum[0]), true);
                });
    }

    private static List<Integer> every(int first, int step, int end) {
        return IntStream.range(0, end).filter(i -> i % step == first).boxed().toList();
    }

    private static byte[] scales(List<Integer> outputs, long[] biases, NpuResult result) {
        NpuArena entries = new NpuArena();
        entries.allocate(SCALE_BYTES * outputs.size());
        for (int i = 0; i < outputs.size(); i++) {
            entries.put(SCALE_BYTES * i, 5, biases[outputs.get(i)]);
            entries.put(SCALE_BYTES * i + 5, 4, result.multiplier());
            entries.put(SCALE_BYTES * i + 9, 1, result.shift());
        }
        return entries.bytes();
    }

    /** A pool: 0 the greatest, 1 the average by a scale or by the elements that are seen, 2 the sum. */
    void pool(int function) {
        NpuMap.Size size = size(20);
        NpuMap ofm = map(function == 2 ? new NpuMap.Size(size.height(), size.width(), 1) : size, type(1, 1, 2, 4));
        NpuWindow window = window(ofm.size());
        int inputs = function == 2 ? 1 + random.nextInt(20) : ofm.size().depth();
        NpuMap ifm = map(window.input(ofm.size(), inputs), type(1, 1, 2, 4));
        boolean isWide = ifm.type().bytes() == 4;
        boolean isGlobal = random.nextBoolean();
        NpuResult result = new NpuResult(ofm, isWide ? random.nextInt(32) : 30 + random.nextInt(8), random);
        input(ifm, 0);
        window.describe(stream);
        result.describe(stream, flash, config, isGlobal);
        add(
                "pool " + function + " " + window + " of " + ifm.size() + ifm.type(),
                NpuStream.POOL,
                function,
                ofm,
                (y, x, c) -> {
                    List<Long> seen = new ArrayList<>();
                    for (int i = 0; i < (function == 2 ? inputs : 1); i++) {
                        window.look(ifm, ofm.size(), new int[] {y, x, c + i}, (row, column, value) -> seen.add(value));
                    }
                    long sum = seen.stream().mapToLong(v -> v).sum();
                    if (function == 0) {
                        return result.stored(
                                seen.stream().mapToLong(v -> v).max().orElse(Integer.MIN_VALUE), true);
                    }
                    if (isWide) {
                        sum = result.round(BigInteger.valueOf(sum), 1, result.shift())
                                .longValueExact();
                    } else if (isGlobal) {
                        sum = result.scaled(sum);
                    } else if (function == 1) {
                        long half = seen.size() / 2;
                        sum = seen.isEmpty() ? 0 : Long.signum(sum) * ((Math.abs(sum) + half) / seen.size());
                    }
                    return result.stored(sum, true);
                });
    }

    /** An operation of each element. */
    void elementwise() {
        int function = random.nextInt(FUNCTIONS.size());
        NpuMap.Type type = function > 6 ? new NpuMap.Type(4, true) : type(1, 1, 2, 4);
        NpuMap ofm = map(size(20), random.nextInt(3) == 0 ? type(1, 2, 4) : type);
        NpuMap ifm = map(ofm.size(), type);
        int broadcast = random.nextInt(8);
        NpuMap.Size size = ofm.size();
        NpuMap ifm2 = map(
                new NpuMap.Size(
                        (broadcast & 1) != 0 ? 1 : size.height(),
                        (broadcast & 2) != 0 ? 1 : size.width(),
                        (broadcast & 4) != 0 ? 1 : size.depth()),
                type);
        boolean isReversed = random.nextInt(4) == 0;
        boolean isScalar = random.nextInt(4) == 0;
        int scalar = new NpuMap.Type(Math.min(2, type.bytes()), type.isSigned()).drawn(random);
        boolean isSum = function == 1 || function == 2;
        int scaled = isSum && type.bytes() < 4 ? random.nextInt(3) : 0;
        boolean isWide = type.bytes() == 4;
        int shift = isWide ? random.nextInt(32) : scaled > 0 ? 18 + 31 + random.nextInt(4) : 34 + random.nextInt(8);
        NpuResult result = new NpuResult(ofm, shift, random);
        int[] operands = {1 + random.nextInt(1 << 15), 20 + random.nextInt(12), 1 + random.nextInt(1 << 15)};
        input(ifm, scaled << 8);
        stream.set(NpuStream.IFM_UPSCALE, 0);
        ifm2.describe(stream, NpuMap.Registers.IFM2);
        stream.set(NpuStream.IFM2_PRECISION, ifm2.inputPrecision())
                .set(NpuStream.IFM2_BROADCAST, broadcast | (isReversed ? 0x40 : 0) | (isScalar ? 0x80 : 0))
                .set(NpuStream.IFM2_SCALAR, scalar & 0xffff)
                .set(NpuStream.OPA_SCALE, operands[1], operands[0] << (scaled > 0 ? 16 : 0))
                .set(NpuStream.OPB_SCALE, 0, operands[2]);
        result.describe(stream, flash, config, true);
        boolean isExtreme = function == 3 || function == 4;
        add(
                FUNCTIONS.get(function) + " of " + type + " scaled " + scaled,
                NpuStream.ELEMENTWISE,
                function,
                ofm,
                (y, x, c) -> {
                    long first = ifm.get(y, x, c);
                    long second = isScalar
                            ? scalar
                            : ifm2.get(
                                    (broadcast & 1) != 0 ? 0 : y,
                                    (broadcast & 2) != 0 ? 0 : x,
                                    (broadcast & 4) != 0 ? 0 : c);
                    long a = isExtreme ? first : first - ifm.zero();
                    long b = isExtreme ? second : second - ifm2.zero();
                    boolean isTwo = function < 5 || function > 7;
                    long left = isReversed && isTwo ? b : a;
                    long right = isReversed && isTwo ? a : b;
                    int power = type.bytes() == 1 ? 20 : 15;
                    BigInteger value = isSum && !isWide
                            ? sum(result, function, scaled, power, new long[] {left, right}, operands)
                            : BigInteger.valueOf(plain(function, left, right));
                    boolean isRounded = function < 3 || function == 6 || function == 5 && left < 0;
                    if (isRounded) {
                        value = result.round(value, isWide ? 1 : result.multiplier(), result.shift());
                    }
                    return result.stored(
                            value.min(BigInteger.ONE.shiftLeft(60))
                                    .max(BigInteger.ONE.shiftLeft(60).negate())
                                    .longValueExact(),
                            !isExtreme);
                });
    }

    private static BigInteger sum(
            NpuResult result, int function, int scaled, int power, long[] values, int[] operands) {
        BigInteger[] terms = new BigInteger[2];
        for (int i = 0; i < 2; i++) {
            BigInteger value = BigInteger.valueOf(values[i]);
            if (scaled == 0) {
                terms[i] = value.multiply(BigInteger.valueOf(operands[2 * i]));
            } else if (scaled == i + 1) {
                terms[i] = result.round(value.shiftLeft(power), (long) operands[0] << 16, operands[1] + power);
            } else {
                terms[i] = value.shiftLeft(power - 1);
            }
        }
        return function == 1 ? terms[0].add(terms[1]) : terms[0].subtract(terms[1]);
    }

    private static long plain(int function, long a, long b) {
        return switch (FUNCTIONS.get(function)) {
            case "MUL" -> a * b;
            case "ADD" -> a + b;
            case "SUB" -> a - b;
            case "MIN" -> Math.min(a, b);
            case "MAX" -> Math.max(a, b);
            case "LRELU" -> a;
            case "ABS" -> Math.abs(a);
            case "CLZ" -> Integer.numberOfLeadingZeros((int) a);
            case "SHR" -> {
                int distance = (int) Math.max(0, Math.min(32, b));
                yield distance == 0 ? a : (a + (1L << distance - 1)) >> distance;
            }
            default -> b >= 32 ? 0 : (int) a << (int) Math.max(0, b);
        };
    }
}
