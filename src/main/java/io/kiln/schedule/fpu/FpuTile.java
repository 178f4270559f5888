// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.fpu;

import io.kiln.ir.op.Window;
import io.kiln.lower.layer.ConvComputation;
import java.util.ArrayList;
import java.util.List;

/**
 * Neighbouring pixels of a depthwise convolution that are computed together. Columns are counted from the first column
 * of the first pixel's window, in the input or beside it.
 *
 * @param pixels their number
 * @param taps width of a window
 * @param stride columns from one pixel's window to the next one's
 * @param dilation columns from one tap to the next
 * @param begin first column inside the input
 * @param end column after the last one inside the input
 */
record FpuTile(int pixels, int taps, int stride, int dilation, int begin, int end) {
    private static final int REGISTERS = 32;
    private static final int MOST_PIXELS = 4;

    /**
     * Tiles side by side.
     *
     * @param x first pixel of the first one
     * @param count their number
     */
    record Run(FpuTile tile, int x, int count) {}

    /** Largest number of pixels whose sums fit the registers beside the weights of a row of the window and an input; 0 if none does. */
    static int mostPixels(ConvComputation conv) {
        int channels = FpuDepthwiseKernel.CHANNELS;
        int left = REGISTERS / channels - conv.window().kernelW() - 1;
        return Math.max(0, Math.min(Math.min(MOST_PIXELS, left), conv.output().dim(2)));
    }

    /** The tiles of a row of the output with at most this many pixels each, about equally many. */
    static List<Run> row(ConvComputation conv, int most) {
        int width = conv.output().dim(2);
        int tiles = (width + most - 1) / most;
        int pixels = (width + tiles - 1) / tiles;
        List<Run> runs = new ArrayList<>();
        for (int x = 0; x < width; x += pixels) {
            FpuTile tile = at(conv, x, Math.min(pixels, width - x));
            Run last = runs.isEmpty() ? new Run(tile, x, 0) : runs.get(runs.size() - 1);
            if (last.count > 0 && last.tile.equals(tile)) {
                runs.set(runs.size() - 1, new Run(tile, last.x, last.count + 1));
            } else {
                runs.add(new Run(tile, x, 1));
            }
        }
        return runs;
    }

    private static FpuTile at(ConvComputation conv, int x, int pixels) {
        Window w = conv.window();
        int origin = x * w.strideW() - w.padLeft();
        int columns = (pixels - 1) * w.strideW() + w.spanW();
        int begin = Math.min(columns, Math.max(0, -origin));
        int end = Math.max(begin, Math.min(columns, conv.input().dim(2) - origin));
        return new FpuTile(pixels, w.kernelW(), w.strideW(), w.dilationW(), begin, end);
    }

    /** The tap of a pixel that reads a column; negative if none does. */
    int tap(int pixel, int column) {
        int offset = column - pixel * stride;
        return offset >= 0 && offset % dilation == 0 && offset / dilation < taps ? offset / dilation : -1;
    }

    /** End of the kernel's name. */
    String suffix() {
        int columns = (pixels - 1) * stride + (taps - 1) * dilation + 1;
        return pixels + "x" + taps
                + (stride == 1 ? "" : "_s" + stride)
                + (dilation == 1 ? "" : "_d" + dilation)
                + (begin == 0 ? "" : "_from" + begin)
                + (end == columns ? "" : "_to" + end);
    }
}
