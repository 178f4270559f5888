// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu;

import java.util.List;

/**
 * A feature map as the registers of an operation describe it: up to four tiles, with strides between them.
 *
 * @param name of its registers: {@code IFM}, {@code IFM2} or {@code OFM}
 * @param height number of rows
 * @param width number of columns
 * @param depth number of channels
 * @param layout how its elements lie
 * @param tiles first column and row of the tiles beside and below the first one, and their addresses
 * @param strides bytes from column to column, row to row, and from 16 channels to the next 16
 */
record FeatureMap(String name, long height, long width, long depth, Layout layout, Tiles tiles, Strides strides) {
    private static final int BRICK = 16;

    /** Bytes of an element, and whether 16 channels of a column lie together (NHCWB16). */
    record Layout(int elementBytes, boolean isBricks) {}

    /** Sizes of the tiles at the left and of the columns at the right, and the addresses of all four. */
    record Tiles(long leftWidth, long leftHeight, long rightHeight, List<Long> bases) {
        Tiles {
            bases = List.copyOf(bases);
        }
    }

    /** Distances in bytes; negative where a map is written from its end. */
    record Strides(long x, long y, long c) {}

    /** First byte and the byte behind the last one, in the map's region. */
    record Extent(long first, long end) {
        /** With what lies some bytes before or behind it, and between. */
        Extent moved(long bytes) {
            return with(new Extent(first + bytes, end + bytes));
        }

        Extent with(Extent other) {
            return new Extent(Math.min(first, other.first), Math.max(end, other.end));
        }
    }

    /** What an operation touches of it, all tiles together. */
    Extent extent() {
        long left = Math.min(width, tiles.leftWidth);
        Extent all = tile(0, left, Math.min(height, tiles.leftHeight));
        if (height > tiles.leftHeight) {
            all = all.with(tile(2, left, height - tiles.leftHeight));
        }
        if (width > left) {
            all = all.with(tile(1, width - left, Math.min(height, tiles.rightHeight)));
            if (height > tiles.rightHeight) {
                all = all.with(tile(3, width - left, height - tiles.rightHeight));
            }
        }
        return all;
    }

    private Extent tile(int number, long columns, long rows) {
        long base = tiles.bases.get(number);
        return channels(base).moved((rows - 1) * strides.y).moved((columns - 1) * strides.x);
    }

    /** What the channels of a column touch; of bricks, the last one may be smaller than those before. */
    private Extent channels(long base) {
        if (!layout.isBricks || depth <= BRICK) {
            return new Extent(base, base + depth * layout.elementBytes);
        }
        long last = (depth - 1) / BRICK;
        Extent whole = new Extent(base, base + (long) BRICK * layout.elementBytes).moved((last - 1) * strides.c);
        long start = base + last * strides.c;
        return whole.with(new Extent(start, start + ((depth - 1) % BRICK + 1) * layout.elementBytes));
    }

    String shape() {
        return height + "x" + width + "x" + depth;
    }
}
