// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu.model;

import io.kiln.base.Bytes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** Draws operations of all kinds, and computes what each must leave in memory by formulas of its own. */
final class NpuDraw {
    private static final int SCALE_BYTES = 10;

    private final int config;
    private final Random random;
    private final NpuArena flash = new NpuArena();
    private final NpuArena arena = new NpuArena();
    private final NpuStream stream = new NpuStream();
    private final List<Drawn> drawn = new ArrayList<>();

    private int lastScales;

    /** An operation: what it is, where its command stands in the payload, what it leaves. */
    record Drawn(String text, int offset, NpuMap ofm, List<Long> expected) {}

    NpuDraw(int config, Random random) {
        this.config = config;
        this.random = random;
    }

    List<Drawn> drawn() {
        return drawn;
    }

    Bytes flash() {
        return Bytes.wrap(flash.bytes());
    }

    /** Where the scales of the last convolution lie in the constants. */
    int lastScales() {
        return lastScales;
    }

    Bytes arena() {
        return Bytes.wrap(arena.bytes());
    }

    Bytes payload() {
        return Bytes.wrap(stream.payload(config));
    }

    /** The job, which takes the whole arena out. */
    NpuJob job() {
        return job(flash());
    }

    /** The job with other constants. */
    NpuJob job(Bytes constants) {
        return new NpuJob(config)
                .region(constants.size(), constants)
                .region(arena().size(), arena())
                .payload(payload().toArray())
                .take(1, 0, arena().size())
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
        drawn.add(new Drawn(
                text, stream.offset(), ofm, Arrays.stream(ofm.values()).boxed().toList()));
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
            lastScales = flash.add(scales);
            stream.wide(core == 0 ? NpuStream.SCALE_BASE : NpuStream.SCALE1_BASE, List.of(lastScales, scales.length));
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
        boolean isGlobal = random.nextBoolean();
        NpuResult result = new NpuResult(ofm, 30 + random.nextInt(8), random);
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
                    if (isGlobal) {
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
        NpuElementwise.Function function = NpuElementwise.Function.drawn(random);
        NpuMap.Type type = function.isWide() ? new NpuMap.Type(4, true) : type(1, 1, 2, 4);
        NpuMap ofm = map(size(20), random.nextInt(3) == 0 ? type(1, 2, 4) : type);
        NpuMap ifm = map(ofm.size(), type);
        NpuElementwise.Second second = NpuElementwise.Second.drawn(ofm.size(), type, random);
        NpuMap ifm2 = map(second.size(ofm.size()), type);
        NpuElementwise operation = new NpuElementwise(function, ifm, ifm2, second, random);
        NpuResult result = new NpuResult(ofm, operation.drawnShift(random), random);
        input(ifm, operation.precisionBits());
        operation.describe(stream);
        result.describe(stream, flash, config, true);
        add(
                operation.toString(),
                NpuStream.ELEMENTWISE,
                function.code(),
                ofm,
                (y, x, c) -> operation.stored(result, y, x, c));
    }
}
