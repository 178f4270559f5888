// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.wide;

import io.kiln.schedule.parts.PixelTile;
import io.kiln.schedule.wide.WideKernel.Place;
import java.util.Locale;

/**
 * The products of a row of the window in {@link PlainWideTaps} for Armv6-M, as a statement of assembly: only eight registers
 * multiply, and a product replaces a factor. So a weight is loaded for each product and replaced by it, instead of being kept.
 *
 * <pre>
 * low registers: sums, row of the input, weights, an input, a weight
 * </pre>
 */
record Armv6Taps(Place place) {
    /** Largest even immediate. */
    private static final int REACH = 254;

    /** Lines of C; none if the tile's columns are all beside the input. */
    String text() {
        PixelTile tile = place.tile();
        StringBuilder lines = new StringBuilder();
        int moved = 0;
        for (int column = tile.begin(); column < tile.end(); column++) {
            String products = products(column);
            if (!products.isEmpty()) {
                int offset = (column - tile.begin()) * Short.BYTES * place.channels();
                for (; offset - moved > REACH; moved += REACH) {
                    line(lines, "adds %[row], #" + REACH);
                }
                line(lines, "movs %[value], #" + (offset - moved));
                line(lines, "ldrsh %[value], [%[row], %[value]]");
                lines.append(products);
            }
        }
        return lines.isEmpty() ? "" : statement(lines.toString(), moved);
    }

    private String products(int column) {
        StringBuilder lines = new StringBuilder();
        for (int p = 0; p < place.tile().pixels(); p++) {
            int tap = place.tile().tap(p, column);
            if (tap >= 0) {
                line(lines, "ldr %[weight], [%[w], #" + Integer.BYTES * tap + "]");
                line(lines, "muls %[weight], %[value], %[weight]");
                line(lines, "adds %[sum" + p + "], %[weight]");
            }
        }
        return lines.toString();
    }

    private static void line(StringBuilder lines, String instruction) {
        lines.append("          \"").append(instruction).append("\\n\"\n");
    }

    private String statement(String lines, int moved) {
        StringBuilder out = new StringBuilder("      int32_t value;\n      int32_t weight;\n      __asm__ volatile(\n");
        line(out, ".syntax unified");
        out.append(lines).append("          : ");
        for (int p = 0; p < place.tile().pixels(); p++) {
            out.append(String.format(Locale.ROOT, "[sum%1$d] \"+l\"(sum%1$d), ", p));
        }
        out.append("[row] \"+l\"(row), [value] \"=&l\"(value), [weight] \"=&l\"(weight)\n");
        out.append("          : [w] \"l\"(w)\n          : \"cc\", \"memory\");\n");
        return out.append(moved == 0 ? "" : "      row -= " + moved / Short.BYTES + ";\n")
                .toString();
    }
}
