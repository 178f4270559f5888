// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.ir.op.Window;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.space.Workload;
import java.util.Arrays;

/** The parameters of a layer for a kernel that serves all layers, as 16-bit numbers. */
public final class SharedLayer {
    private SharedLayer() {}

    /**
     * Whether all rows are computed at once, one after another in memory, so that four channels of all of them may be written before others
     * are read, and all numbers fit 16 bits.
     */
    public static boolean fits(Workload workload) {
        Rows rows = workload.rows();
        return rows.areContiguous()
                && rows.parameters().isEmpty()
                && Arrays.stream(of(workload.conv())).allMatch(value -> value == (short) value);
    }

    /** Columns of a row of the input with its padding; 0 if there is none. */
    static int columns(ConvComputation conv) {
        Window w = conv.window();
        int read = (conv.output().dim(2) - 1) * w.strideW() + w.spanW();
        return w.isPadded() ? Math.max(read, w.padLeft() + conv.input().dim(2)) : 0;
    }

    /**
     * Height, width and channels of the input; the window's height, width, strides and dilations, padding above and on the left; height, width and
     * channels of the output; the input's zero point; columns of the input with padding, or 0 for none.
     */
    public static int[] of(ConvComputation conv) {
        Window w = conv.window();
        return new int[] {
            conv.input().dim(1),
            conv.input().dim(2),
            conv.input().dim(3),
            w.kernelH(),
            w.kernelW(),
            w.strideH(),
            w.strideW(),
            w.dilationH(),
            w.dilationW(),
            w.padTop(),
            w.padLeft(),
            conv.output().dim(1),
            conv.output().dim(2),
            conv.channels(),
            conv.inputZeroPoint(),
            columns(conv)
        };
    }
}
