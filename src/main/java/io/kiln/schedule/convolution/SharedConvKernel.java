// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.kernels.convolution.Jtedsp_sharedGenerated;
import io.kiln.kernels.convolution.Jtedsp_shared_blocksGenerated;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.List;

/**
 * Any convolution on Cortex-M with the DSP extension: windows of two pixels are widened to scratch, then multiplied with blocks of
 * four channels.
 *
 * @param epilogue the rescaling of the sums
 */
record SharedConvKernel(SharedEpilogue epilogue) {
    static final int BLOCK = 4;

    private static final Intrinsic WIDEN = Intrinsic.inFile("convolution/kiln_conv_widen", List.of(), INT32);
    private static final Intrinsic COPY = Intrinsic.inFile("movement/kiln_copy_row", List.of(), INT32);
    private static final Intrinsic FILL = Intrinsic.inFile("movement/kiln_fill_row", List.of(), INT32);
    private static final Intrinsic LAYER =
            Intrinsic.inFile("convolution/kiln_conv_layer", List.of(), INT32, WIDEN, COPY, FILL);
    private static final Intrinsic PIXELS = Intrinsic.inFile("convolution/kiln_conv_pixels", List.of(), INT32, WIDEN);
    /** {@code (in, w, layer, x, out)}, of which x is scratch. */
    Kernel kernel() {
        Intrinsic blocks = blocks();
        String name = "kiln_conv" + epilogue.suffix();
        return new Kernel(
                name,
                List.of(Pointer.in(INT8), Pointer.in(INT32), Pointer.in(INT16), Pointer.out(INT8), Pointer.out(INT8)),
                List.of(),
                List.of(),
                definition(name, blocks, false),
                List.of(WIDEN, COPY, FILL, LAYER, blocks));
    }

    /** For outputs that read only the pixel at their place: {@code (in, w, x, out, pixels, inputs, channels)}, of which x is scratch. */
    Kernel ofPixels() {
        Intrinsic blocks = blocks();
        String name = "kiln_conv_1x1" + epilogue.suffix();
        return new Kernel(
                name,
                List.of(Pointer.in(INT8), Pointer.in(INT32), Pointer.out(INT8), Pointer.out(INT8)),
                List.of(INT32, INT32, INT32),
                List.of(),
                definition(name, blocks, true),
                List.of(WIDEN, PIXELS, blocks));
    }

    private static String definition(String name, Intrinsic blocks, boolean isOfPixels) {
        return KernelSheet.text(
                (out, html) -> Jtedsp_sharedGenerated.render(out, html, name, blocks.name(), isOfPixels));
    }

    private Intrinsic blocks() {
        String name = "kiln_conv_blocks" + epilogue.suffix();
        String definition =
                KernelSheet.text((out, html) -> Jtedsp_shared_blocksGenerated.render(out, html, name, epilogue));
        return new Intrinsic(name, List.of(), INT32, "", definition, List.of());
    }
}
