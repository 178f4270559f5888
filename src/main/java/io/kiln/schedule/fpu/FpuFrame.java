// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.fpu;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT32;

import io.kiln.base.DType;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/**
 * What {@link FpuConvKernel} and {@link FpuDepthwiseKernel} have in common. For each tile of pixels and each block of channels the biases become the
 * sums of all pixels, each row of the window adds products to them, and the limited sums are stored.
 *
 * <pre>
 *   r4 weights; r5 scratch; r6 rows left; r8 output; r9 arguments in memory; r10 biases; r11 blocks left; lr rows before the input's buffer wraps
 *   r0-r3 and r12 belong to the rows, and are free between tiles
 * </pre>
 *
 * @param pixels computed together
 * @param channels of a block
 * @param late where the arguments hold whether limits are left to C, in bytes. Before it lie five words: bytes of the weights that are skipped
 *     behind a block, blocks, tiles, and bytes from a tile to the next in input and output
 * @param limits of the results
 */
record FpuFrame(int pixels, int channels, int late, FpuLimits limits) {
    /** A kernel of input, weights, biases and output, with so many scalars before those of the limits. */
    Kernel kernel(String name, int scalars, String definition) {
        List<DType> all = new ArrayList<>(Collections.nCopies(scalars, INT32));
        all.addAll(limits.parameters());
        List<Pointer> pointers =
                List.of(Pointer.in(FLOAT32), Pointer.in(FLOAT32), Pointer.in(FLOAT32), Pointer.out(FLOAT32));
        return new Kernel(name, pointers, all, List.of(), definition, List.of());
    }

    /**
     * All instructions.
     *
     * @param first those before the rows of a block
     * @param row those of a row, with the step to the next one
     */
    String around(String first, String row) {
        int gap = late - 20;
        int blocks = late - 16;
        int tiles = late - 12;
        int outputStep = late - 4;
        return limits.start(late)
                + String.format(
                        Locale.ROOT,
                        """
                        ldr r8, [r9, #12]
                        0:
                        ldrd r4, r10, [r9, #4]
                        ldr r11, [r9, #%2$d]
                        1:
                        %5$s\
                        ldrd r6, lr, [r9, #24]
                        %6$s\
                        2:
                        %7$s\
                        subs r6, r6, #1
                        bne 2b
                        ldr r5, [r9, #%1$d]
                        add r4, r4, r5
                        %8$s\
                        subs r11, r11, #1
                        bne 1b
                        ldrd r0, r1, [r9, #%3$d]
                        ldr r2, [r9, #%4$d]
                        add r8, r8, r2
                        ldr r2, [r9]
                        add r2, r2, r1
                        str r2, [r9]
                        subs r0, r0, #1
                        str r0, [r9, #%3$d]
                        bne 0b
                        """,
                        gap,
                        blocks,
                        tiles,
                        outputStep,
                        biases(),
                        first,
                        row,
                        limits.stores(pixels, channels, late));
    }

    /** Loads of the biases at r10 as the sums of all pixels. */
    private String biases() {
        StringBuilder out = new StringBuilder();
        for (int p = 0; p < pixels; p++) {
            String last = p == pixels - 1 ? "!" : "";
            out.append(String.format(Locale.ROOT, "vldmia r10%s, %s\n", last, registers(p * channels, channels)));
        }
        return out.toString();
    }

    /** A list of registers of single precision. */
    static String registers(int first, int count) {
        return count == 1 ? "{s" + first + "}" : String.format(Locale.ROOT, "{s%d-s%d}", first, first + count - 1);
    }
}
