// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.kernels.depthwise.Jtedsp_columnsGenerated;
import io.kiln.schedule.convolution.DspConvShape;
import io.kiln.schedule.convolution.DspEpilogue;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelSheet;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The micro-kernel of {@link DspColumnDepthwise} and {@link DspWindowDepthwiseSchedule}: one or two outputs along the taps, in blocks of four channels.
 *
 * @param window taps
 * @param outBytes bytes from an output to the next
 * @param rows outputs
 * @param epilogue the rescaling of the sums
 * @param isPaired see {@link DspConvShape}; where the offset reaches
 */
public record DspColumnKernel(Window window, int outBytes, int rows, DspEpilogue epilogue, boolean isPaired) {
    /**
     * The taps of a window: those that two outputs share follow each other in a line.
     *
     * @param taps taps of a line
     * @param tapBytes bytes from a tap's input to the next; 0 if they are parameters, because rows lie in a ring
     * @param lines lines of taps
     * @param lineBytes bytes from a line to the next
     */
    public record Window(int taps, int tapBytes, int lines, int lineBytes) {
        /** A single line. */
        static Window line(int taps, int tapBytes) {
            return new Window(taps, tapBytes, 1, 0);
        }

        /** Taps of all lines. */
        public int all() {
            return taps * lines;
        }

        private String suffix() {
            return lines == 1
                    ? taps + (areApart() ? "_apart" : "_row" + tapBytes)
                    : lines + "x" + taps + "_row" + tapBytes + "_line" + lineBytes;
        }

        /** Whether rows lie in a ring, so that the place of each is a parameter. */
        public boolean areApart() {
            return tapBytes == 0;
        }

        /** The taps, in words. */
        public String inWords() {
            if (lines > 1) {
                return lines + " lines, " + lineBytes + " bytes apart, of " + taps + " taps, " + tapBytes
                        + " bytes apart";
            }
            return taps + " rows, " + (areApart() ? "at offsets" : tapBytes + " bytes apart");
        }

        /** C's expression for the input of a tap of an output. */
        public String place() {
            if (lines > 1) {
                return String.format(
                        Locale.ROOT, "tap / %d * %d + (row + tap %% %d) * %d", taps, lineBytes, taps, tapBytes);
            }
            return areApart() ? "offsets[tap]" : "(row + tap) * " + tapBytes;
        }
    }

    private String name() {
        return "kiln_column_" + window.suffix() + "_out" + outBytes + "_rows" + rows + (isPaired ? "_paired" : "")
                + epilogue.suffix();
    }

    /** {@code (x, w, out, blocks[, late][, rows])}; a row is its offset from x. */
    Kernel kernel() {
        List<String> parameters = new ArrayList<>(epilogue.kernelParameters());
        for (int tap = 0; tap < window.taps && window.areApart(); tap++) {
            parameters.add("int32_t row" + tap);
        }
        return epilogue.kernel(
                name(),
                parameters.size() - epilogue.kernelParameters().size(),
                KernelSheet.text((out, html) -> Jtedsp_columnsGenerated.render(
                        out, html, name(), window, outBytes, rows, epilogue, isPaired, parameters)));
    }
}
