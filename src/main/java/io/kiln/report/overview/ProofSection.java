// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.overview;

import io.kiln.report.VerifyReport;
import io.kiln.report.page.HtmlTable;
import io.kiln.report.page.Xhtml;
import java.util.Locale;
import java.util.Optional;

/** The verification: where it ran, each case, and where answers first differed. */
final class ProofSection {
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

    /** In a few words. */
    static String verdict(VerifyReport report) {
        if (!report.passed()) {
            return "Failed";
        }
        return report.bitExact()
                ? "Every answer equals the reference bit for bit"
                : "Every answer is within the tolerance";
    }
}
