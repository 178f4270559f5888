// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.overview;

import io.kiln.artifact.ModelMetadata.PlannedBuffer;
import io.kiln.report.BuildReport;
import io.kiln.report.BuildReport.Operator;
import io.kiln.report.MemoryReport;
import io.kiln.report.ModelPart;
import io.kiln.report.PreprocessingReport;
import io.kiln.report.ProfileReport;
import io.kiln.report.VerifyReport;
import io.kiln.report.graph.GraphPage;
import io.kiln.report.page.HtmlTable;
import io.kiln.report.page.Xhtml;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * {@code index.html}: all that is known of a build on one page of XHTML, which needs no network, no script and no other file. Equal reports give
 * equal bytes.
 */
public final class OverviewPage {
    private static final double MICROSECONDS_PER_MILLI = 1000;

    private final Overview overview;
    private final BuildReport built;
    private final StringBuilder out;

    private OverviewPage(Overview overview) {
        this.overview = overview;
        this.built = overview.built();
        this.out = new StringBuilder(Xhtml.head(title(built)));
    }

    /** Prints the page of a build. */
    public static String of(Overview overview) {
        OverviewPage page = new OverviewPage(overview);
        page.header();
        page.tiles();
        page.out.append(Remarks.markup(overview)).append(MemorySection.of(page.built));
        page.workspaces();
        page.operators();
        page.waits();
        page.out.append(PreprocessingSection.of(page.built.preprocessing()));
        page.out.append(ProofSection.of(overview.proof()));
        page.graphs();
        page.origin();
        return page.out.append(Xhtml.foot()).toString();
    }

    private static String title(BuildReport built) {
        return built.model() + " on " + built.board();
    }

    private void header() {
        out.append("<h1>").append(Xhtml.escape(title(built))).append("</h1>\n<nav>");
        out.append(
                        "<a href=\"#memory\">Memory</a><a href=\"#workspace\">Workspace</a><a href=\"#operators\">Operators</a>")
                .append("<a href=\"#proof\">Proof</a>");
        if (!overview.graphs().isEmpty()) {
            out.append("<a href=\"#graph\">Graph</a>");
        }
        out.append("<a href=\"#origin\">Toolchain and licences</a></nav>\n");
    }

    private void tiles() {
        out.append("<div class=\"tiles\">\n");
        proof();
        memory("Flash", built.flash().total(), built.flash().available());
        memory("RAM", built.ram().total(), built.ram().available());
        inference();
        tile("", Shown.count(built.macs()), "MACs, " + Shown.count(built.executedMacs()) + " executed", "");
        out.append("</div>\n");
    }

    /** What waits for the board's memories, and what would change that. */
    private void waits() {
        MemoryReport memory = built.estimate() == null ? null : built.estimate().memory();
        if (memory == null || memory.cycles().fetchStalls() + memory.cycles().dataStalls() == 0) {
            return;
        }
        out.append("<h2 id=\"waits\">Waits of the memories</h2>\n<p>")
                .append(Xhtml.escape(memory.text()))
                .append("</p>\n");
        list(
                "Loops that do not fit in the cache of code",
                memory.loops().stream().map(MemoryReport.Loop::text).toList());
        list(
                "With other settings",
                memory.changes().stream().map(MemoryReport.Change::text).toList());
    }

    private void list(String title, List<String> lines) {
        if (!lines.isEmpty()) {
            out.append("<h3>").append(title).append("</h3>\n<ul>\n");
            lines.forEach(line -> out.append("<li>").append(Xhtml.escape(line)).append("</li>\n"));
            out.append("</ul>\n");
        }
    }

    private void proof() {
        if (overview.proof().isEmpty()) {
            tile("fair", "Not verified", "no proof of this image", "");
            return;
        }
        VerifyReport proof = overview.proof().get();
        String verdict = !proof.passed() ? "Failed" : proof.bitExact() ? "Bit-exact" : "Within tolerance";
        tile(
                !proof.passed() ? "bad" : proof.bitExact() ? "good" : "fair",
                verdict,
                proof.cases().size() + " cases on " + proof.ranOn(),
                "");
    }

    private void memory(String name, long total, long available) {
        String of = available > 0 ? " of " + Shown.bytes(available) : "";
        tile("", Shown.bytes(total), name + of, available > 0 ? Shown.bar(Shown.share(total, available)) : "");
    }

    private void inference() {
        if (overview.profile().isEmpty()) {
            tile("", "–", "instructions: kiln:profile counts them", "");
            return;
        }
        ProfileReport profile = overview.profile().get();
        if (profile.instructions() != null) {
            tile("", Shown.count(profile.instructions()), "instructions per inference on " + profile.ranOn(), "");
        }
        if (built.estimate() != null) {
            MemoryReport memory = built.estimate().memory();
            long expected = memory == null
                    ? built.estimate().cycles().expected()
                    : memory.cycles().expected();
            String waits = memory == null
                    ? ""
                    : ", of which " + Shown.count(memory.cycles().fetchStalls()) + " wait for code and "
                            + Shown.count(memory.cycles().dataStalls()) + " for constants";
            tile(
                    "",
                    Shown.count(expected),
                    "cycles estimated for " + built.estimate().core() + time() + waits,
                    "");
        }
        for (ProfileReport.Time time : profile.times()) {
            tile(
                    "",
                    String.format(Locale.ROOT, "%,.1f µs", time.microseconds()),
                    "one run of " + time.model() + " on " + profile.ranOn(),
                    "");
        }
    }

    private String time() {
        return built.estimate().microseconds() == null
                ? ""
                : String.format(
                        Locale.ROOT,
                        ": %,.2f ms",
                        built.estimate().microseconds().expected() / MICROSECONDS_PER_MILLI);
    }

    private void tile(String style, String figure, String text, String bar) {
        out.append("<div class=\"tile ")
                .append(style)
                .append("\"><b>")
                .append(Xhtml.escape(figure))
                .append("</b>")
                .append(bar)
                .append("<span>")
                .append(Xhtml.escape(text))
                .append("</span></div>\n");
    }

    private void workspaces() {
        out.append("<h2 id=\"workspace\">Workspace over time</h2>\n<p>")
                .append(Xhtml.escape(Shown.count(built.plan().bytes()) + " bytes planned by "
                        + built.plan().algorithm() + "; no plan can need fewer than "
                        + Shown.count(built.plan().lowerBound())
                        + ". A rectangle is a buffer: its height is its size, its width the time in which it is needed. A dashed one"
                        + " shares bytes with another at that time: the operator writes over what it has read."))
                .append("</p>\n");
        int operator = 0;
        int buffer = 0;
        for (ModelPart model : built.models()) {
            List<String> names = built.operators().subList(operator, operator + model.operators()).stream()
                    .map(Operator::name)
                    .toList();
            List<PlannedBuffer> buffers = built.plan().buffers().subList(buffer, buffer + model.buffers());
            String picture = PlanPicture.of(buffers, names);
            part(model);
            out.append(picture.isEmpty() ? "<p>Its buffers are not known one by one.</p>\n" : picture);
            operator += model.operators();
            buffer += model.buffers();
        }
    }

    private void operators() {
        out.append("<h2 id=\"operators\">Operators</h2>\n");
        int from = 0;
        for (ModelPart model : built.models()) {
            part(model);
            out.append(new OperatorSection(built.operators().subList(from, from + model.operators())).markup());
            from += model.operators();
        }
    }

    /** Prints the heading of a model's part; a single model needs none. */
    private void part(ModelPart model) {
        if (built.models().size() > 1) {
            out.append("<h3>").append(Xhtml.escape(model.name())).append("</h3>\n");
        }
    }

    private void graphs() {
        if (overview.graphs().isEmpty()) {
            return;
        }
        out.append("<h2 id=\"graph\">Graph</h2>\n").append(GraphPage.arrow());
        OperatorSection operators = new OperatorSection(built.operators());
        overview.graphs().forEach(graph -> out.append(GraphPage.pictures(graph.with(operators.notes()), "h3", "h3")));
    }

    private void origin() {
        out.append("<h2 id=\"origin\">Toolchain and licences</h2>\n");
        HtmlTable facts = new HtmlTable("", 2, "Of the build", "");
        facts.row("", "model", built.model());
        facts.row("", "name in C", built.name());
        facts.row("", "board", built.board());
        facts.row("", "toolchain", built.toolchain());
        facts.row("", "target", built.target());
        facts.row("", "application", built.application());
        facts.row("", "interface", built.calls().interfaceApi());
        facts.row(
                "",
                "artifacts",
                built.linkPlan().stream()
                        .map(group -> group.files() + " " + group.action() + " (" + group.loader() + ", "
                                + group.targetKey() + ")")
                        .collect(Collectors.joining("; ")));
        out.append(facts.body());
        HtmlTable licences = new HtmlTable("", 2, "Sources", "Licence (SPDX)", "Files");
        built.image()
                .licences()
                .forEach(licence -> licences.row(
                        "",
                        licence.part(),
                        licence.licence().isEmpty() ? "not stated" : licence.licence(),
                        Shown.count(licence.files())));
        if (licences.hasRows()) {
            out.append("<h3>Licences of what was compiled</h3>\n").append(licences.body());
        }
    }

    /** The verification: where it ran, each case, and where answers first differed. */
    private static final class ProofSection {
        private ProofSection() {}

        static String of(Optional<VerifyReport> proof) {
            StringBuilder out = new StringBuilder("<h2 id=\"proof\">Proof</h2>\n");
            if (proof.isEmpty()) {
                return out.append("<p>This image was not verified.</p>\n").toString();
            }
            VerifyReport report = proof.get();
            out.append("<p>")
                    .append(Xhtml.escape("Ran on " + report.ranOn() + "; random cases from seed " + report.seed() + ". "
                            + verdict(report)))
                    .append("</p>\n");
            if (!report.failure().isEmpty()) {
                out.append("<pre>").append(Xhtml.escape(report.failure())).append("</pre>\n");
            }
            HtmlTable table = new HtmlTable("", 1, "Case", "Values", "Wrong", "Largest difference", "First difference");
            for (VerifyReport.Case each : report.cases()) {
                table.row(
                        each.mismatches() > 0 ? "bad" : "",
                        each.name(),
                        Shown.count(each.outputs()),
                        Shown.count(each.mismatches()),
                        String.format(Locale.ROOT, "%.6g", each.maxAbsDiff()).replaceFirst("^0\\.0+$", "0"),
                        each.first());
            }
            return out.append(table.hasRows() ? table.body() : "").toString();
        }

        /** The result of a verification in a few words. */
        static String verdict(VerifyReport report) {
            if (!report.passed()) {
                return "Failed";
            }
            return report.bitExact()
                    ? "Every answer equals the reference bit for bit"
                    : "Every answer is within the tolerance";
        }
    }

    /** The signal processing before models: what it takes beside the operators. */
    private static final class PreprocessingSection {
        private PreprocessingSection() {}

        /** The section; empty if there is no signal processing. */
        static String of(List<PreprocessingReport> all) {
            HtmlTable table = new HtmlTable(
                    "",
                    1,
                    "Model",
                    "Rows",
                    "Features",
                    "Instructions of a row",
                    "of all rows",
                    "Code",
                    "Tables",
                    "State in RAM");
            all.forEach(each -> table.row(
                    "",
                    each.model(),
                    Shown.count(each.rows()),
                    Shown.count(each.features()),
                    Shown.known(each.rowInstructions()),
                    Shown.known(each.instructions()),
                    Shown.known(each.codeBytes()),
                    Shown.count(each.tableBytes()),
                    Shown.count(each.stateBytes())));
            return table.hasRows()
                    ? "<h2 id=\"preprocessing\">Signal processing</h2>\n<p>It comes before the model and is not part of an inference's"
                            + " instructions. Bytes of code and tables are part of the flash above.</p>\n"
                            + table.body()
                    : "";
        }
    }
}
