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

    /** Distances in bytes. */
    record Strides(long x, long y, long c) {}

    /** First byte and the byte behind the last one, in the map's region. */
    record Extent(long first, long end) {
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
        long last = depth - 1;
        long channels = layout.isBricks
                ? Math.max(
                        last / BRICK * strides.c + (last % BRICK + 1) * layout.elementBytes,
                        last < BRICK ? 0 : (last / BRICK - 1) * strides.c + (long) BRICK * layout.elementBytes)
                : depth * layout.elementBytes;
        long base = tiles.bases.get(number);
        return new Extent(base, base + (rows - 1) * strides.y + (columns - 1) * strides.x + channels);
    }

    String shape() {
        return height + "x" + width + "x" + depth;
    }
}
