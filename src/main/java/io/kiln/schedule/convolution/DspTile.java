// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.kernels.convolution.Jtedsp_tileGenerated;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import io.kiln.tir.Kernel;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * Several pairs of neighbouring pixels that a kernel multiplies with each block of weights before it reads the next one, for cores that wait for
 * flash: a layer reads its weights as many times fewer.
 *
 * @param shape sizes of a pair
 * @param epilogue the rescaling of the sums
 * @param isCopied whether a block of weights is copied to scratch, unless it is in RAM already
 */
public record DspTile(DspConvShape shape, DspEpilogue epilogue, boolean isCopied) {
    /** Where RAM begins on every Cortex-M; what lies below is code, or constants beside it. */
    public static final int RAM = 0x2000_0000;

    /** Most bytes of the windows of a tile. */
    private static final int MOST_BYTES = 10 << 10;

    /** Most pairs: each further one saves less than a hundredth of the time that a layer waits. */
    private static final int MOST_PAIRS = 8;

    /** Where caches are small, the one for constants holds so many bytes of weights. */
    private static final int SMALL_WEIGHTS = 256;

    /** Caches of so many bytes of code are beside one for constants that a block of weights does not fit into. */
    private static final int SMALL_CACHE = 2 << 10;

    private static final int ALIGNMENT = 8;

    /** Bytes filled up so that what follows is aligned. */
    static int aligned(int bytes) {
        return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    /** The knob with the largest tile that there may be, or none if it would gain nothing. */
    static Knob knob(int tile) {
        return tile > 1 ? Knob.unusual(Space.TILE, tile) : Knob.unusual(Space.TILE);
    }

    /** Whether a layer reads more weights than a cache holds. */
    static boolean waits(Workload workload) {
        int cache = workload.codeBytes().orElse(Integer.MAX_VALUE);
        int held = cache <= SMALL_CACHE ? SMALL_WEIGHTS : cache;
        return workload.conv().groups() == 1 && workload.conv().weight().data().size() > held;
    }

    /**
     * The largest tile of a layer; 1 if one gains nothing.
     *
     * @param bytes bytes of scratch for each group of neighbouring pixels
     * @param pixels pixels of a group
     */
    static int most(Workload workload, int bytes, int pixels) {
        ConvComputation conv = workload.conv();
        int width = conv.output().dim(2);
        int there = width % pixels == 0 ? conv.output().dim(1) * width / pixels : width / pixels;
        int most = Math.min(there, Math.min(MOST_PAIRS, MOST_BYTES / bytes));
        return waits(workload) ? Math.max(1, most) : 1;
    }

    /** Whether the cache for constants is too small for a block of weights. */
    static boolean isCopied(Workload workload) {
        OptionalInt cache = workload.codeBytes();
        return cache.isPresent() && cache.getAsInt() <= SMALL_CACHE;
    }

    /** Bytes of scratch before the windows. */
    public int copyBytes() {
        return isCopied ? aligned(shape.blockBytes(epilogue)) : 0;
    }

    /** Bytes of scratch of the windows of a pair. */
    int windowBytes() {
        return DspConvShape.STEP_BYTES * shape.steps();
    }

    /** {@code (x, w, out, blocks, count[, late])}, of which x is scratch; count is that of pairs, at least one. */
    Kernel kernel() {
        String name = "kiln_conv_tile_" + shape.suffix() + (isCopied ? "_copied" : "") + epilogue.suffix();
        List<String> parameters = new ArrayList<>(
                List.of("int8_t* x", "const int32_t* w", "int8_t* out", "int32_t blocks", "int32_t count"));
        epilogue.parameters().forEach(p -> parameters.add("int32_t " + p));
        return Kernel.of(
                name,
                List.of(Kernel.Pointer.out(INT8), Kernel.Pointer.in(INT32), Kernel.Pointer.out(INT8)),
                2 + epilogue.parameters().size(),
                (out, html) -> Jtedsp_tileGenerated.render(out, html, name, this, parameters));
    }
}
