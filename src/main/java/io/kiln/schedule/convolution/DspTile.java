// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.kernels.convolution.Jtedsp_tileGenerated;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.space.Workload;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelSheet;
import java.util.ArrayList;
import java.util.Collections;
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

    /** Weights of fewer bytes are read fast enough. */
    private static final int LEAST_WEIGHTS = 2 << 10;

    /** Caches of so many bytes of code are beside one for constants that a block of weights does not fit into. */
    private static final int SMALL_CACHE = 2 << 10;

    private static final int ALIGNMENT = 8;

    /** Pairs of a tile for a layer whose windows are gathered; 1 if a tile gains nothing. */
    static int pairs(Workload workload, int inputs) {
        ConvComputation conv = workload.conv();
        boolean waits = workload.codeBytes().isPresent()
                && conv.groups() == 1
                && conv.weight().data().size() >= LEAST_WEIGHTS;
        int width = conv.output().dim(2);
        int most = width % 2 == 0 ? MOST_PAIRS : Math.min(MOST_PAIRS, width / 2);
        int pairs =
                Math.min(MOST_BYTES / (4 * inputs), Math.min(most, conv.output().dim(1) * width / 2));
        return waits ? Math.max(1, pairs) : 1;
    }

    /** Whether the cache for constants is too small for a block of weights. */
    static boolean isCopied(Workload workload) {
        OptionalInt cache = workload.codeBytes();
        return cache.isPresent() && cache.getAsInt() <= SMALL_CACHE;
    }

    /** Bytes of scratch before the windows. */
    public int copyBytes() {
        return isCopied ? (shape.blockBytes(epilogue) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : 0;
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
        return new Kernel(
                name,
                List.of(Kernel.Pointer.out(INT8), Kernel.Pointer.in(INT32), Kernel.Pointer.out(INT8)),
                Collections.nCopies(2 + epilogue.parameters().size(), INT32),
                List.of(),
                KernelSheet.text((out, html) -> Jtedsp_tileGenerated.render(out, html, name, this, parameters)),
                List.of());
    }
}
