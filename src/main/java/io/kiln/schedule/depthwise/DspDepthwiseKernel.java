// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.kernels.depthwise.Jtedsp_rowsGenerated;
import io.kiln.schedule.convolution.DspConvShape;
import io.kiln.tir.Kernel;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The micro-kernel that computes one or two output rows of a depthwise convolution, in blocks of four channels.
 *
 * @param shape geometry
 * @param rows output rows, 1 or 2; two follow each other in memory
 * @param limits what may be unrolled
 * @param isPaired see {@link DspConvShape}; where the offset reaches
 * @param epilogue the rescaling of the sums, which are already scaled: inputs by 256, weights by the rest
 */
public record DspDepthwiseKernel(
        DspDepthwiseShape shape, int rows, Limits limits, boolean isPaired, DspDepthwiseEpilogue epilogue) {
    /**
     * Limits of the straight code.
     *
     * @param outputs most outputs of a row, 1 to 8
     * @param columns most columns of the input that a round of a loop widens, 1 to 4
     * @param isLimited whether code must be short
     */
    public record Limits(int outputs, int columns, boolean isLimited) {
        /** Where code may have any size. */
        static final Limits NONE = new Limits(8, 4, false);

        private String suffix() {
            return !isLimited ? "" : "_by" + outputs + "_" + columns;
        }
    }

    /** Largest number of bytes of scratch under a window: the reach of LDRD. */
    static final int MOST_COLUMN_BYTES = 1020;

    /** Reach of LDR and STRB. */
    static final int LOAD_REACH = 4095;

    /** Equal only for kernels with the same text. */
    String name() {
        return "kiln_depthwise_" + shape.suffix() + "_rows" + rows + limits.suffix() + (isPaired ? "_paired" : "")
                + epilogue.suffix();
    }

    Kernel kernel() {
        return Kernel.of(
                name(),
                List.of(
                        Kernel.Pointer.in(INT8),
                        Kernel.Pointer.in(INT8),
                        Kernel.Pointer.out(INT16),
                        Kernel.Pointer.in(INT32),
                        Kernel.Pointer.out(INT8)),
                shape.inputRows(rows) + 1,
                (out, html) -> Jtedsp_rowsGenerated.render(out, html, name(), this, shape, epilogue, parameters()));
    }

    private List<String> parameters() {
        List<String> parameters = new ArrayList<>(List.of(
                "const int8_t* input",
                "const int8_t* padding",
                "int16_t* scratch",
                "const int32_t* table",
                "int8_t* out"));
        for (int i = 0; i < shape.inputRows(rows); i++) {
            parameters.add("int32_t row" + i);
        }
        parameters.add("int32_t blocks");
        return parameters;
    }

    /** Whether code must be short. */
    public boolean isShort() {
        return limits.isLimited;
    }

    /** Columns of the input that are widened by one round of a loop. */
    public int unrolledColumns() {
        return Math.min(limits.columns, 1 + LOAD_REACH / 2 / shape.channels());
    }

    /** Number of unrolled outputs of a row: all of a short row, otherwise a number that divides the row if there is one. */
    public int unroll() {
        int reach =
                (MOST_COLUMN_BYTES - shape.spanW() * shape.columnBytes()) / (shape.strideW() * shape.columnBytes()) + 1;
        int rowBelow = rows == 2 ? shape.width() * shape.outputs() : 0;
        int most = Math.min(Math.min(limits.outputs, reach), (LOAD_REACH - rowBelow) / shape.outputs());
        if (shape.width() <= most) {
            return shape.width();
        }
        if (limits.isLimited) {
            // The outputs that are left over are code, too.
            int all = most;
            return IntStream.rangeClosed(1, most)
                    .filter(unroll -> unroll + shape.width() % unroll <= all)
                    .max()
                    .orElse(1);
        }
        for (int unroll = most; unroll > most / 2; unroll--) {
            if (shape.width() % unroll == 0) {
                return unroll;
            }
        }
        return most;
    }
}
