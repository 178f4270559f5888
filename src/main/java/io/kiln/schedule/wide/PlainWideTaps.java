// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.wide;

import io.kiln.lower.Intrinsics;
import io.kiln.schedule.parts.AsmText;
import io.kiln.schedule.parts.PixelTile;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelText;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;

/**
 * Products of one channel in C, for cores without vectors: an input is loaded once for all windows that contain it, a weight
 * once for all pixels.
 *
 * <pre>
 * registers: sums of the pixels, input, weights of the taps that read it, row, weights, rows left, channels left
 * </pre>
 *
 * @param hasLongMultiply whether a multiplication takes any registers; Armv6-M multiplies only in eight of them
 */
record PlainWideTaps(boolean hasLongMultiply) implements WideKernel {
    private static final KernelText TEXT = KernelText.of("portable/depthwise16");

    @Override
    public String title() {
        return "depthwise16";
    }

    @Override
    public String reason() {
        return "pixels side by side share inputs and weights; sums are proven to fit 32 bits";
    }

    @Override
    public int pixels() {
        return hasLongMultiply ? 4 : 2;
    }

    @Override
    public int channels() {
        return 1;
    }

    @Override
    public void put(ByteBuffer table, int weight) {
        if (hasLongMultiply) {
            table.put((byte) weight);
        } else {
            table.putInt(weight);
        }
    }

    @Override
    public int weightBytes() {
        return hasLongMultiply ? 1 : Integer.BYTES;
    }

    @Override
    public Kernel kernel(Place place) {
        String next = String.format(Locale.ROOT, "      row -= left == rows - before ? %d : 0;\n", place.wrap());
        KernelText text = TEXT.with("STEP", place.step())
                .with("WEIGHT", hasLongMultiply ? "int8_t" : "int32_t")
                .with("SUMS", each(place, "    int32_t sum%1$d = bias;\n"))
                .with("LOADS_AND_PRODUCTS", row(place))
                .with("NEXT_ROW", place.wrap() == 0 ? "" : next)
                .with("RESULTS", results(place));
        Intrinsic limit = place.isLimited() ? Intrinsics.CLAMP : Intrinsics.SATURATE_16;
        return new WideText(this, place)
                .kernel("kiln_depthwise16_" + place.suffix(), text, List.of(Intrinsics.RESCALE_HIGH, limit));
    }

    private static String each(Place place, String text) {
        StringBuilder out = new StringBuilder();
        for (int p = 0; p < place.tile().pixels(); p++) {
            out.append(String.format(Locale.ROOT, text, p));
        }
        return out.toString();
    }

    private String row(Place place) {
        String assembly = hasLongMultiply ? "" : new Armv6Taps(place).text();
        return assembly.isEmpty()
                ? products(place)
                : String.format(Locale.ROOT, "#if %s\n%s#else\n%s#endif\n", AsmText.THUMB_1, assembly, products(place));
    }

    /** The products of a row of the window; where the tile's columns are all beside the input, there are none. */
    private static String products(Place place) {
        PixelTile tile = place.tile();
        StringBuilder out = new StringBuilder();
        for (int column = tile.begin(); column < tile.end(); column++) {
            StringBuilder products = new StringBuilder();
            for (int p = 0; p < tile.pixels(); p++) {
                int tap = tile.tap(p, column);
                if (tap >= 0) {
                    products.append(String.format(Locale.ROOT, "      sum%1$d += x%2$d * w[%3$d];\n", p, column, tap));
                }
            }
            if (!products.isEmpty()) {
                long offset = (long) (column - tile.begin()) * place.channels();
                out.append(String.format(Locale.ROOT, "      const int32_t x%d = row[%d];\n", column, offset))
                        .append(products);
            }
        }
        return out.isEmpty() ? "      (void)row;\n      (void)w;\n" : out.toString();
    }

    private static String results(Place place) {
        StringBuilder out = new StringBuilder();
        for (int p = 0; p < place.tile().pixels(); p++) {
            String value = String.format(Locale.ROOT, "kiln_rescale_high(sum%d, multiplier)", p);
            String result = place.isLimited() ? "kiln_clamp(%s, low, high)" : "kiln_saturate_16(%s)";
            out.append(String.format(
                    Locale.ROOT,
                    "    out[%d] = (int16_t)%s;\n",
                    p * place.channels(),
                    String.format(Locale.ROOT, result, value)));
        }
        return out.toString();
    }
}
