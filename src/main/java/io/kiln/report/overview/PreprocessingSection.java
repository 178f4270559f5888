// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.overview;

import io.kiln.report.PreprocessingReport;
import io.kiln.report.page.HtmlTable;
import java.util.List;

/** The signal processing before models: what it takes beside the operators. */
final class PreprocessingSection {
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
                        + " instructions. Bytes of code and tables are part of the flash above.</p>\n" + table.body()
                : "";
    }
}
