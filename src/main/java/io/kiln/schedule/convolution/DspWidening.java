// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.ir.op.Window;
import io.kiln.lower.layer.ConvComputation;
import java.util.Optional;

/** Where a kernel finds the inputs of a pixel's window, which it widens to 16 bits, four at a time. */
public sealed interface DspWidening permits DspPlaces, DspRuns {
    /**
     * The windows of a convolution, if all of them are runs of the input, or the rows under them are copied so that all of a window lies
     * inside.
     *
     * @param isShort whether code must be short
     */
    static Optional<DspWidening> of(ConvComputation conv, boolean isShort) {
        if (conv.groups() > 1) {
            return Optional.empty();
        }
        if (DspPaddedRows.areFor(conv)) {
            return Optional.of(DspPaddedRows.widening(conv, isShort));
        }
        Window w = conv.window();
        boolean isRun = w.kernelH() == 1 && !w.isPadded() && !DspWindow.isDilated(conv) && conv.taps() >= 4;
        return isRun ? Optional.of(DspRuns.single(conv.taps(), pitch(conv))) : Optional.empty();
    }

    /** Elements of the input from the window of a pixel to that of the next one. */
    static int pitch(ConvComputation conv) {
        return conv.window().strideW() * conv.input().dim(3);
    }

    /** The same in less code. */
    DspWidening inShort();

    /** Part of a kernel's name. */
    String suffix();

    /** Inputs of a window, some of which may have no weight. */
    int inputs();

    /** Bytes from a pixel's inputs to the next one's. */
    int pitch();

    /** C's expression for the offset of input {@code i}. */
    String place();

    /** Whether r0 is changed although halves are stored one by one. */
    boolean movesScratch();
}
