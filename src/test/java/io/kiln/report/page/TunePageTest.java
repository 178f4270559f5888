// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.pages.JtetuneGenerated;
import io.kiln.report.TuneReport;
import io.kiln.report.TuneReport.Choice;
import io.kiln.report.TuneReport.Sizes;
import io.kiln.report.TuneReport.Task;
import io.kiln.report.TuneReport.Whole;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class TunePageTest {
    private static String page(Sizes before, Sizes after) {
        Task task = new Task(
                "conv2d (1, 8) -> (1, 4)",
                "kiln.conv2d.cortex-m4",
                31,
                1,
                new Choice("slow(n=1)", 200.0),
                new Choice("fast(n=2)", 150.0),
                Arrays.asList(200.0, null, 150.0));
        TuneReport report = new TuneReport(
                "b", "c", "cycles", "grid", 0, "src/main/tuning/b.log", List.of(task), new Whole(before, after));
        return Page.of((out, html) -> JtetuneGenerated.render(out, html, report));
    }

    @Test
    void whatWasSoughtIsAmongTheGainsOfTheImage() {
        String page = page(new Sizes(1000, 2000L, 10, 20), new Sizes(1100, 1500L, 10, 20));
        assertThat(page)
                .contains(">Estimated cycles</td>")
                .containsSubsequence("2,000", "1,500", "25.0 %")
                .contains("3 of 31");
        assertThat(page(new Sizes(1000, null, 10, 20), new Sizes(1100, null, 10, 20)))
                .contains(">Instructions</td>")
                .doesNotContain("cycles</td>");
    }

    @Test
    void aFailureHasNoDotAndTheBestFallsInSteps() {
        String page = page(new Sizes(1000, null, 10, 20), new Sizes(1000, null, 10, 20));
        assertThat(page.split("<circle", -1)).hasSize(1 + 2);
        assertThat(page).contains("<polyline points=\"2.0,2.0 85.0,2.0 168.0,2.0 168.0,78.0\"");
    }
}
