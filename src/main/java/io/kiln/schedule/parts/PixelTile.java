// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import io.kiln.ir.op.Window;
import io.kiln.lower.layer.ConvComputation;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

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
public record PixelTile(int pixels, int taps, int stride, int dilation, int begin, int end) {
    /**
     * Tiles side by side.
     *
     * @param x first pixel of the first one
     * @param count their number
     */
    public record Run(PixelTile tile, int x, int count) {}

    /** The tiles of a row of the output with at most this many pixels each, about equally many. */
    public static List<Run> row(ConvComputation conv, int most) {
        int width = conv.output().dim(2);
        int tiles = (width + most - 1) / most;
        int pixels = (width + tiles - 1) / tiles;
        List<Run> runs = new ArrayList<>();
        for (int x = 0; x < width; x += pixels) {
            PixelTile tile = at(conv, x, Math.min(pixels, width - x));
            Run last = runs.isEmpty() ? new Run(tile, x, 0) : runs.get(runs.size() - 1);
            if (last.count > 0 && last.tile.equals(tile)) {
                runs.set(runs.size() - 1, new Run(tile, last.x, last.count + 1));
            } else {
                runs.add(new Run(tile, x, 1));
            }
        }
        return runs;
    }

    private static PixelTile at(ConvComputation conv, int x, int pixels) {
        Window w = conv.window();
        int origin = x * w.strideW() - w.padLeft();
        int columns = (pixels - 1) * w.strideW() + w.spanW();
        int begin = Math.min(columns, Math.max(0, -origin));
        int end = Math.max(begin, Math.min(columns, conv.input().dim(2) - origin));
        return new PixelTile(pixels, w.kernelW(), w.strideW(), w.dilationW(), begin, end);
    }

    /** The tap of a pixel that reads a column; negative if none does. */
    public int tap(int pixel, int column) {
        int offset = column - pixel * stride;
        return offset >= 0 && offset % dilation == 0 && offset / dilation < taps ? offset / dilation : -1;
    }

    /** Columns inside the input that some pixel reads. */
    public List<Integer> columns() {
        return IntStream.range(begin, end)
                .filter(column -> !taps(List.of(column)).isEmpty())
                .boxed()
                .toList();
    }

    /** The taps that read columns. */
    public List<Integer> taps(List<Integer> columns) {
        return columns.stream()
                .flatMap(column -> IntStream.range(0, pixels).mapToObj(p -> tap(p, column)))
                .filter(tap -> tap >= 0)
                .distinct()
                .toList();
    }

    /** End of the kernel's name. */
    public String suffix() {
        int columns = (pixels - 1) * stride + (taps - 1) * dilation + 1;
        return pixels + "x" + taps
                + (stride == 1 ? "" : "_s" + stride)
                + (dilation == 1 ? "" : "_d" + dilation)
                + (begin == 0 ? "" : "_from" + begin)
                + (end == columns ? "" : "_to" + end);
    }
}
