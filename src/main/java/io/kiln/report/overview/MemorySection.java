// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.overview;

import io.kiln.report.BuildReport;
import io.kiln.report.BuildReport.Flash;
import io.kiln.report.BuildReport.Ram;
import io.kiln.report.ImageReport;
import io.kiln.report.page.HtmlTable;
import io.kiln.report.page.Xhtml;
import java.util.List;
import java.util.Locale;

/** The page's section on flash and RAM: bytes by use, by memory, by section and by symbol. */
final class MemorySection {
    private static final List<String> COLOURS = List.of("a", "b", "c", "d", "e", "f");

    private MemorySection() {}

    private record Part(String name, long bytes) {}

    static String of(BuildReport report) {
        Flash flash = report.flash();
        Ram ram = report.ram();
        StringBuilder out = new StringBuilder("<h2 id=\"memory\">Memory</h2>\n<div class=\"columns\">\n");
        stack(
                out,
                "Flash",
                List.of(
                        new Part("code", flash.text()),
                        new Part("constants of the models and strings", flash.constants()),
                        new Part("initial values of variables", flash.data())),
                flash.total(),
                flash.available());
        stack(
                out,
                "RAM",
                List.of(
                        new Part("workspace of the models", ram.workspace()),
                        new Part("inputs and outputs", ram.io()),
                        new Part(stackName(report.stack().used()), ram.stack()),
                        new Part("variables with an initial value", ram.data()),
                        new Part("other variables", ram.bss() - ram.state()),
                        new Part("state that models keep", ram.state())),
                ram.total(),
                ram.available());
        out.append("</div>\n");
        memories(report, out);
        report.models().stream()
                .filter(model -> model.ramCopies() != null)
                .forEach(model -> out.append("<p>")
                        .append(Xhtml.escape("Model " + model.name() + ", "
                                + model.ramCopies().text()))
                        .append(".</p>\n"));
        sections(report.image(), out);
        return out.toString();
    }

    private static String stackName(Long used) {
        return used == null ? "stack" : "stack, of which " + Shown.count(used) + " were used";
    }

    private static void stack(StringBuilder out, String title, List<Part> parts, long total, long available) {
        out.append("<div><h3>").append(title).append(": ").append(Shown.bytes(total));
        if (available > 0) {
            out.append(" of ").append(Shown.bytes(available));
        }
        out.append("</h3>\n<div class=\"stack\">");
        HtmlTable table = new HtmlTable("", 1, "Use", "Bytes", "Share");
        for (int i = 0; i < parts.size(); i++) {
            Part part = parts.get(i);
            if (part.bytes() > 0) {
                String colour = COLOURS.get(i);
                out.append(String.format(
                        Locale.ROOT,
                        "<span class=\"%s\" style=\"width: %.2f%%\" title=\"%s: %s bytes\"></span>",
                        colour,
                        Shown.share(part.bytes(), total),
                        part.name(),
                        Shown.count(part.bytes())));
                String key = "<span class=\"key " + colour + "\"></span>" + Xhtml.escape(part.name());
                table.markup("", List.of(key, Shown.count(part.bytes()), Shown.percent(part.bytes(), total)));
            }
        }
        table.row("total", "total", Shown.count(total), "");
        out.append("</div>\n").append(table.body()).append("</div>\n");
    }

    private static void memories(BuildReport report, StringBuilder out) {
        HtmlTable table = new HtmlTable("", 1, "Memory", "Used", "Size", "Full");
        report.memories()
                .forEach(memory -> table.markup(
                        "",
                        List.of(
                                Xhtml.escape(memory.name()
                                        + (memory.targets().isEmpty()
                                                ? ""
                                                : " (" + String.join(", ", memory.targets()) + " only)")),
                                Shown.count(memory.used()),
                                Shown.count(memory.available()),
                                Shown.bar(Shown.share(memory.used(), memory.available()))
                                        + Shown.percent(memory.used(), memory.available()))));
        if (table.hasRows()) {
            out.append("<h3>The board's memories</h3>\n").append(table.body());
        }
    }

    private static void sections(ImageReport image, StringBuilder out) {
        HtmlTable sections = new HtmlTable("", 1, "Section", "Memory", "Address", "Bytes");
        image.sections()
                .forEach(section -> sections.row(
                        "",
                        section.name(),
                        section.memory(),
                        String.format(Locale.ROOT, "0x%08x", section.address()),
                        Shown.count(section.bytes())));
        HtmlTable largest = new HtmlTable("", 1, "Function or variable", "In", "Bytes");
        image.largest()
                .forEach(symbol -> largest.row(
                        "", symbol.name(), symbol.isWritable() ? "RAM" : "flash", Shown.count(symbol.bytes())));
        out.append("<div class=\"columns\">\n");
        if (sections.hasRows()) {
            out.append("<div><h3>Sections</h3>\n").append(sections.body()).append("</div>\n");
        }
        if (largest.hasRows()) {
            out.append("<div><h3>What takes most</h3>\n").append(largest.body()).append("</div>\n");
        }
        out.append("</div>\n");
    }
}
