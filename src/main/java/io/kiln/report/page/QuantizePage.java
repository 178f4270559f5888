// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.page;

import io.kiln.report.QuantizeReport;
import io.kiln.report.QuantizeReport.Accuracy;
import io.kiln.report.QuantizeReport.Layer;
import io.kiln.report.QuantizeReport.Trial;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/** {@code quantized.html}: the content of {@code quantized.json} to look at. Equal reports give equal bytes. */
public final class QuantizePage {
    /**
     * Signal-to-noise ratios in dB: from {@code GOOD} on noise is at most a tenth of the value, from {@code FAIR} on a third; {@code FULL} fills a
     * bar.
     */
    private static final double GOOD = 20;

    private static final double FAIR = 10;
    private static final double FULL = 60;

    private final QuantizeReport report;
    private final StringBuilder out;

    private QuantizePage(QuantizeReport report) {
        this.report = report;
        this.out = new StringBuilder(Xhtml.head("Quantization of " + report.model()));
    }

    /** The page for a report. */
    public static String of(QuantizeReport report) {
        QuantizePage page = new QuantizePage(report);
        page.summary();
        page.border();
        page.advice();
        page.layers();
        page.trials();
        page.equalized();
        return page.out.append(Xhtml.foot()).toString();
    }

    private void summary() {
        out.append("<h1>")
                .append(Xhtml.escape("Quantization of " + report.model()))
                .append("</h1>\n");
        paragraph("Mode " + report.mode() + ", ranges by " + report.method() + ", " + report.samples()
                + " samples. Float and quantized model choose the same class for " + percent(report.agreement())
                + " of them.");
        if (!report.notInTensorflowLite().isEmpty()) {
            paragraph("There is no quantized.tflite, because TensorFlow Lite lacks "
                    + String.join(", ", report.notInTensorflowLite()) + ".");
        }
        Accuracy accuracy = report.accuracy();
        if (accuracy != null) {
            HtmlTable table = new HtmlTable("Accuracy on labelled samples", 1, "Model", "Right");
            table.row("", "float", percent(accuracy.real()));
            table.row("", "quantized", percent(accuracy.quantized()));
            out.append(table.text());
        }
    }

    private void border() {
        HtmlTable table = new HtmlTable("Inputs and outputs", 1, "Name", "Type", "Scale", "Zero point", "SQNR");
        report.inputs()
                .forEach(input ->
                        table.row("", input.name(), input.dtype(), number(input.scale()), text(input.zeroPoint()), ""));
        report.outputs()
                .forEach(output -> table.row(
                        "",
                        output.name(),
                        output.dtype(),
                        number(output.scale()),
                        text(output.zeroPoint()),
                        decibels(output.sqnr())));
        out.append(table.text());
    }

    private void advice() {
        HtmlTable table = new HtmlTable("What would give most back", 1, "Layer", "Precision", "SQNR of the outputs");
        report.advice().forEach(advice -> table.row("", advice.layer(), advice.precision(), decibels(advice.sqnr())));
        section(
                table,
                "The layers that lose most, each alone in another precision: float by kiln.quantize.keepFloat, int16"
                        + " by kiln.quantize=auto. Measured over all samples.");
    }

    private void layers() {
        Set<String> worst =
                report.advice().stream().map(QuantizeReport.Advice::layer).collect(Collectors.toSet());
        HtmlTable table = new HtmlTable(
                "Layers",
                1,
                "Tensor",
                "Operator",
                "Precision",
                "Smallest",
                "Largest",
                "Scale",
                "Zero point",
                "MACs",
                "SQNR");
        for (Layer layer : report.layers()) {
            List<String> cells = new ArrayList<>(List.of(layer.name(), layer.op(), precision(layer)));
            cells.addAll(List.of(number(layer.min()), number(layer.max()), number(layer.scale())));
            cells.addAll(List.of(text(layer.zeroPoint()), String.format(Locale.ROOT, "%,d", layer.macs())));
            table.row(
                    worst.contains(layer.name()) ? "worst" : "",
                    cells,
                    layer.sqnr() == null ? "" : bar(layer.sqnr()) + decibels(layer.sqnr()));
        }
        section(
                table,
                "In execution order. SQNR is the signal-to-quantization-noise ratio over all samples; it includes the"
                        + " noise of all layers before. 20 dB mean an error of a tenth of the value. The layers that lose"
                        + " most are highlighted.");
    }

    private static String precision(Layer layer) {
        return layer.reason() == null ? layer.precision() : layer.precision() + ": " + layer.reason();
    }

    private void trials() {
        HtmlTable table = new HtmlTable("Search", 1, "Layers in another precision", "SQNR", "Same class", "Enough");
        for (Trial trial : report.trials()) {
            String layers = trial.layers().entrySet().stream()
                    .map(layer -> layer.getKey() + " " + layer.getValue())
                    .sorted()
                    .collect(Collectors.joining(", "));
            table.row(
                    "",
                    layers.isEmpty() ? "none" : layers,
                    decibels(trial.sqnr()),
                    percent(trial.agreement()),
                    trial.enough() ? "yes" : "no");
        }
        section(table, "What the search tried, in order.");
    }

    private void equalized() {
        HtmlTable table =
                new HtmlTable("Equalized channels", 2, "First layer", "Second layer", "Largest factor / smallest");
        report.equalized()
                .forEach(pair ->
                        table.row("", pair.first(), pair.second(), String.format(Locale.ROOT, "%.0f", pair.spread())));
        section(
                table,
                "Between these layers channels got factors that make them alike. The float results are the same.");
    }

    private void section(HtmlTable table, String explanation) {
        if (table.hasRows()) {
            out.append(table.heading());
            paragraph(explanation);
            out.append(table.body());
        }
    }

    private void paragraph(String text) {
        out.append("<p>").append(Xhtml.escape(text)).append("</p>\n");
    }

    private static String bar(double decibels) {
        String style = decibels >= GOOD ? "good" : decibels >= FAIR ? "fair" : "poor";
        double part = Math.max(0, Math.min(1, decibels / FULL));
        return String.format(
                Locale.ROOT,
                "<span class=\"bar\"><span class=\"%s\" style=\"width: %.0f%%\"></span></span>",
                style,
                100 * part);
    }

    private static String decibels(double value) {
        return String.format(Locale.ROOT, "%.1f dB", value);
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f %%", 100 * share);
    }

    private static String number(Float value) {
        return value == null ? "" : String.format(Locale.ROOT, "%.5g", value);
    }

    private static String text(Integer value) {
        return Objects.toString(value, "");
    }
}
