// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.kernels.convolution.Jtedsp_winograd_inputGenerated;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelSheet;
import java.util.List;

/**
 * The kernel that makes the factors of {@link DspWinograd} from one row of six columns: four pixels, the second two of which begin two
 * columns later.
 *
 * <p>If the number of inputs is not a multiple of four, the last four overlap the ones before.
 *
 * @param channels inputs of a column, at least four
 * @param isShort whether inputs take a loop rather than straight code
 * @param isPaired see {@link DspConvShape}; where the offset reaches
 * @param lines rows of which the factors of a kind follow each other
 */
public record DspWinogradInput(int channels, boolean isShort, boolean isPaired, int lines) {
    private static final int ROWS = 3;
    private static final int FACTORS = 4;

    /** Inputs that have factors, in fours. */
    public static int filled(int channels) {
        return (channels + 3) / 4 * 4;
    }

    /** The input of a place among the {@link #filled} ones; -1 if a place before has it already. */
    static int inputAt(int place, int channels) {
        int whole = channels / 4 * 4;
        int over = filled(channels) - channels;
        return place < whole ? place : place - whole < over ? -1 : place - over;
    }

    /** Bytes of scratch of one kind of factors of a row. */
    int rowBytes() {
        return 4 * filled(channels);
    }

    /** Bytes from a kind of factors to the next. */
    public int factorBytes() {
        return lines * rowBytes();
    }

    /** Bytes of scratch of the factors of four pixels. */
    int bytes() {
        return FACTORS * factorBytes();
    }

    Kernel kernel() {
        return new Kernel(
                name(),
                List.of(Kernel.Pointer.out(INT8), Kernel.Pointer.in(INT8), Kernel.Pointer.in(INT8)),
                List.of(INT32, INT32, INT32),
                List.of(),
                KernelSheet.text((out, html) -> Jtedsp_winograd_inputGenerated.render(out, html, name(), this)),
                List.of());
    }

    private String name() {
        return "kiln_winograd_input_" + channels + (isShort ? "_short" : "") + (isPaired ? "_paired" : "")
                + (lines == ROWS ? "" : "_lines" + lines);
    }
}
