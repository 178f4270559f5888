// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.page;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * The curve of a search: measurements from left to right, the cheaper the lower, and a line of the best so far, in steps.
 *
 * @param dots measurements; one that failed has none
 * @param line corners of the line
 */
public record Curve(List<Point> dots, List<Point> line) {
    /** Width in pixels: beside the other columns it fits a window of 1100 pixels. */
    public static final int WIDTH = 170;

    public static final int HEIGHT = 80;

    /** Radius of a dot in pixels. */
    public static final int DOT = 2;

    public Curve {
        dots = List.copyOf(dots);
        line = List.copyOf(line);
    }

    /** A position in pixels. */
    public record Point(double x, double y) {}

    /**
     * The curve of some measurements.
     *
     * @param costs null for one that failed
     */
    public static Curve of(List<Double> costs) {
        var known = costs.stream().filter(Objects::nonNull).collect(Collectors.summarizingDouble(Double::doubleValue));
        double scale = (HEIGHT - 2.0 * DOT) / (known.getMax() > known.getMin() ? known.getMax() - known.getMin() : 1);
        List<Point> dots = new ArrayList<>();
        List<Point> line = new ArrayList<>();
        double best = Double.POSITIVE_INFINITY;
        for (int i = 0; i < costs.size(); i++) {
            double x = DOT + (WIDTH - 2.0 * DOT) * i / Math.max(1, costs.size() - 1);
            if (costs.get(i) != null) {
                double y = HEIGHT - DOT - scale * (costs.get(i) - known.getMin());
                dots.add(new Point(x, y));
                if (costs.get(i) < best && !line.isEmpty()) {
                    line.add(new Point(x, line.get(line.size() - 1).y()));
                }
                best = Math.min(best, costs.get(i));
            }
            if (best < Double.POSITIVE_INFINITY) {
                line.add(new Point(x, HEIGHT - DOT - scale * (best - known.getMin())));
            }
        }
        return new Curve(dots, line);
    }
}
