// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.page;

import io.kiln.report.TuneReport;
import io.kiln.report.TuneReport.Task;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/** {@code tune.html}: the content of {@code tune.json} to look at, with a curve of each task. Equal reports give equal bytes. */
public final class TunePage {
    /** Width of a curve in pixels: beside the other columns it fits a window of 1100 pixels. */
    private static final int WIDTH = 170;

    private static final int HEIGHT = 80;
    private static final int DOT = 2;
    private static final double PERCENT = 100;

    private TunePage() {}

    /** The page for a report. */
    public static String of(TuneReport report) {
        String title = "Tuning for " + report.board();
        StringBuilder out = new StringBuilder(Xhtml.head(title))
                .append("<h1>")
                .append(Xhtml.escape(title))
                .append("</h1>\n<p>")
                .append(Xhtml.escape("Objective " + report.objective() + ", tuner " + report.tuner() + ", seed "
                        + report.seed() + ", records in " + report.records() + "."))
                .append("</p>\n");
        HtmlTable whole = new HtmlTable("The image", 1, "", "Before", "After", "Gain");
        TuneReport.Sizes before = report.model().before();
        TuneReport.Sizes after = report.model().after();
        row(whole, "Instructions", before.instructions(), after.instructions());
        if (before.cycles() != null && after.cycles() != null) {
            row(whole, "Estimated cycles", before.cycles(), after.cycles());
        }
        row(whole, "Flash", before.flash(), after.flash());
        row(whole, "RAM", before.ram(), after.ram());
        HtmlTable tasks = new HtmlTable("Layers", 3, "Layer", "Before", "After", "Measured", "Gain", "Costs");
        for (Task task : report.tasks()) {
            tasks.row(
                    "",
                    List.of(
                            task.name(),
                            task.before().schedule(),
                            task.after().schedule(),
                            task.costs().size() + " of " + task.configurations(),
                            gain(task.before().cost(), task.after().cost())),
                    curve(task.costs()));
        }
        return out.append(whole.text())
                .append(tasks.text())
                .append(Xhtml.foot())
                .toString();
    }

    private static void row(HtmlTable table, String name, long before, long after) {
        table.row(
                "",
                name,
                String.format(Locale.ROOT, "%,d", before),
                String.format(Locale.ROOT, "%,d", after),
                gain((double) before, (double) after));
    }

    private static String gain(Double before, Double after) {
        return before == null || after == null || before == 0
                ? ""
                : String.format(Locale.ROOT, "%.1f %%", PERCENT * (before - after) / before);
    }

    /** A dot for each measurement from left to right, the cheaper the lower, and a line of the best so far, in steps. Failures have no dot. */
    private static String curve(List<Double> costs) {
        double[] known = costs.stream()
                .filter(Objects::nonNull)
                .mapToDouble(Double::doubleValue)
                .toArray();
        double least = Double.POSITIVE_INFINITY;
        double most = Double.NEGATIVE_INFINITY;
        for (double cost : known) {
            least = Math.min(least, cost);
            most = Math.max(most, cost);
        }
        StringBuilder dots = new StringBuilder();
        StringBuilder line = new StringBuilder();
        double best = Double.POSITIVE_INFINITY;
        for (int i = 0; i < costs.size(); i++) {
            double x = DOT + (WIDTH - 2.0 * DOT) * i / Math.max(1, costs.size() - 1);
            if (costs.get(i) != null) {
                if (costs.get(i) < best && best < Double.POSITIVE_INFINITY) {
                    line.append(String.format(Locale.ROOT, "%.1f,%.1f ", x, height(best, least, most)));
                }
                best = Math.min(best, costs.get(i));
                dots.append(String.format(
                        Locale.ROOT,
                        "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" class=\"dot\"/>",
                        x,
                        height(costs.get(i), least, most),
                        DOT));
            }
            if (best < Double.POSITIVE_INFINITY) {
                line.append(String.format(Locale.ROOT, "%.1f,%.1f ", x, height(best, least, most)));
            }
        }
        return String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\">%s<polyline points=\"%s\" class=\"best\"/></svg>",
                WIDTH,
                HEIGHT,
                dots,
                line.toString().strip());
    }

    private static double height(double cost, double least, double most) {
        double share = most > least ? (cost - least) / (most - least) : 0;
        return HEIGHT - DOT - share * (HEIGHT - 2.0 * DOT);
    }
}
