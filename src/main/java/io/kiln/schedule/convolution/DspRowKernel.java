// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.kernels.convolution.Jtedsp_rowsGenerated;
import io.kiln.tir.Kernel;
import java.util.ArrayList;
import java.util.List;

/**
 * Neighbouring pixels, two by two or one by one, whose windows the kernel widens before it multiplies them with all channels. Where there are
 * only a few channels, it does both at once.
 *
 * @param widening where the inputs of a pixel are
 * @param shape sizes
 * @param epilogue the rescaling of the sums
 */
record DspRowKernel(DspWidening widening, DspConvShape shape, DspEpilogue epilogue) {
    String name() {
        return "kiln_conv_" + widening.suffix() + "_" + shape.suffix() + epilogue.suffix();
    }

    /** {@code (x, in, weights, out, count, blocks[, late])}, of which x is scratch; count is how often the shape's pixels are computed, at least once. */
    Kernel kernel() {
        List<String> parameters = new ArrayList<>(List.of(
                "int8_t* x",
                "const int8_t* in",
                "const int32_t* weights",
                "int8_t* out",
                "int32_t count",
                "int32_t blocks"));
        epilogue.parameters().forEach(p -> parameters.add("int32_t " + p));
        return Kernel.of(
                name(),
                List.of(
                        Kernel.Pointer.out(INT8),
                        Kernel.Pointer.in(INT8),
                        Kernel.Pointer.in(INT32),
                        Kernel.Pointer.out(INT8)),
                2 + epilogue.parameters().size(),
                (out, html) -> Jtedsp_rowsGenerated.render(out, html, name(), widening, shape, epilogue, parameters));
    }
}
