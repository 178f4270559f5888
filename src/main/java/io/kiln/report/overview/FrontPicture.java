// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.overview;

import io.kiln.report.FrontReport;
import io.kiln.report.FrontReport.Image;
import io.kiln.report.page.Shown;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.function.ToLongFunction;

/**
 * Images as dots in a plane: bytes of a memory from left to right, cycles upwards.
 *
 * @param memory {@code flash} or {@code RAM}
 * @param currency what is counted upwards
 * @param dots in the report's order
 * @param least the bytes at the left edge
 * @param most the bytes at the right edge
 */
public record FrontPicture(String memory, String currency, List<Dot> dots, long least, long most) {
    public static final int WIDTH = 420;

    /** Height in pixels, without the line of text below. */
    public static final int HEIGHT = 220;

    private static final int MARGIN = 12;
    private static final int RADIUS = 4;
    private static final int LARGE = 7;

    public FrontPicture {
        dots = List.copyOf(dots);
    }

    /**
     * An image's place.
     *
     * @param x in pixels
     * @param y in pixels
     * @param radius in pixels
     * @param style {@code taken}, {@code unbeaten}, {@code beaten} or {@code large} for one that does not fit
     * @param hint what it is
     */
    public record Dot(double x, double y, int radius, String style, String hint) {}

    /** The pictures of both memories. */
    public static List<FrontPicture> of(FrontReport front) {
        return List.of(of(front, "flash", Image::flash), of(front, "RAM", Image::ram));
    }

    private static FrontPicture of(FrontReport front, String memory, ToLongFunction<Image> bytes) {
        LongSummaryStatistics wide = front.images().stream().mapToLong(bytes).summaryStatistics();
        LongSummaryStatistics high =
                front.images().stream().mapToLong(Image::cycles).summaryStatistics();
        List<Dot> dots = front.images().stream()
                .map(image -> new Dot(
                        place(bytes.applyAsLong(image), wide, WIDTH),
                        HEIGHT - place(image.cycles(), high, HEIGHT),
                        image.isTaken() ? LARGE : RADIUS,
                        style(image),
                        image.title() + ": " + Shown.count(image.cycles()) + " " + front.currency() + ", "
                                + Shown.count(image.flash()) + " bytes of flash, " + Shown.count(image.ram())
                                + " of RAM"))
                .toList();
        return new FrontPicture(memory, front.currency(), dots, wide.getMin(), wide.getMax());
    }

    private static double place(long value, LongSummaryStatistics all, int pixels) {
        long range = Math.max(1, all.getMax() - all.getMin());
        return MARGIN + (pixels - 2.0 * MARGIN) * (value - all.getMin()) / range;
    }

    private static String style(Image image) {
        if (image.isTaken()) {
            return "taken";
        }
        if (!image.fits()) {
            return "large";
        }
        return image.isUnbeaten() ? "unbeaten" : "beaten";
    }
}
