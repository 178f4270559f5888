// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.farm.desk.Hold;
import io.kiln.farm.state.BoardHistory;
import io.kiln.farm.state.FarmFailure;
import io.kiln.farm.state.FarmKeeper.WorkerNews;
import io.kiln.farm.state.FarmState;
import io.kiln.pages.JtediffGenerated;
import io.kiln.pages.JtefarmGenerated;
import io.kiln.pages.JteplanGenerated;
import io.kiln.pages.JtetableGenerated;
import io.kiln.pages.JtetuneGenerated;
import io.kiln.pages.graph.JtepageGenerated;
import io.kiln.pages.overview.JtestackGenerated;
import io.kiln.report.PageDocument;
import io.kiln.report.PlanReport;
import io.kiln.report.TuneReport;
import io.kiln.report.diff.BuildDiff;
import io.kiln.report.graph.Graph;
import io.kiln.report.overview.Overview.MemoryParts;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Names of other people are text wherever pages show them. */
class PageTest {
    private static final String HOSTILE = "</td></title></style><script>alert(1)</script><img src='x'"
            + " onerror=\"alert(2)\"/>]]>--><!--\u202e\u0000\"'&amp;";

    private static final String SHOWN = "</td></title></style><script>alert(1)</script><img src='x'"
            + " onerror=\"alert(2)\"/>]]>--><!--\ufffd\ufffd\"'&amp;";

    static Stream<Page.Template> pages() {
        WorkerNews news = new WorkerNews(
                HOSTILE,
                new WorkerNews.About(HOSTILE, HOSTILE, HOSTILE, 7),
                2,
                new WorkerNews.Jobs(5, 1),
                List.of(
                        new WorkerNews.Offered(HOSTILE, HOSTILE, "emulator", "", "ready", ""),
                        new WorkerNews.Offered(HOSTILE, HOSTILE, "board", HOSTILE, HOSTILE, HOSTILE)),
                List.of(new WorkerNews.Running(HOSTILE, HOSTILE, HOSTILE, 3)),
                List.of(new BoardHistory(
                        HOSTILE,
                        HOSTILE,
                        HOSTILE,
                        new BoardHistory.Counts(4, 3, 2, 1),
                        new BoardHistory.Last(HOSTILE, HOSTILE, HOSTILE))));
        FarmState farm = new FarmState(
                HOSTILE,
                HOSTILE,
                new FarmState.Desk(HOSTILE, 9, List.of(new Hold(HOSTILE, HOSTILE, true, HOSTILE))),
                List.of(new FarmState.Seen(2, news)),
                List.of(new FarmState.Queue(HOSTILE, 3)),
                List.of(new FarmFailure(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE)));
        TuneReport.Sizes sizes = new TuneReport.Sizes(1000, null, 10, 20);
        TuneReport.Choice choice = new TuneReport.Choice(HOSTILE, 1.0);
        TuneReport tune = new TuneReport(
                HOSTILE,
                HOSTILE,
                HOSTILE,
                HOSTILE,
                0,
                HOSTILE,
                List.of(new TuneReport.Task(HOSTILE, HOSTILE, 3, 0, choice, choice, List.of(1.0))),
                new TuneReport.Whole(sizes, sizes));
        BuildDiff diff = new BuildDiff(
                HOSTILE,
                List.of(new BuildDiff.Change(HOSTILE, 1L, 2L)),
                List.of(),
                List.of(new BuildDiff.TensorChange(HOSTILE, true)),
                List.of());
        Graph graph = new Graph(
                HOSTILE,
                List.of(HOSTILE),
                List.of(
                        new Graph.Block(Graph.Kind.INPUT, "", List.of(new Graph.Box(List.of(HOSTILE), HOSTILE))),
                        new Graph.Block(
                                Graph.Kind.OPERATOR, HOSTILE, List.of(new Graph.Box(List.of(HOSTILE), HOSTILE)))),
                List.of(new Graph.Edge(0, 1)),
                List.of());
        return Stream.of(
                (out, html) -> JteplanGenerated.render(out, html, plan()),
                (out, html) -> JtefarmGenerated.render(out, html, farm, 5),
                (out, html) -> JtetuneGenerated.render(out, html, tune),
                (out, html) -> JtediffGenerated.render(out, html, diff),
                (out, html) -> JtepageGenerated.render(out, html, graph));
    }

    private static PlanReport plan() {
        return new PlanReport(
                HOSTILE,
                List.of(
                        PlanReport.Cell.without(HOSTILE, HOSTILE, PlanReport.Result.SKIPPED, HOSTILE),
                        new PlanReport.Cell(
                                "m",
                                HOSTILE,
                                PlanReport.Result.FAILED,
                                HOSTILE,
                                Optional.of(new PlanReport.Run(
                                        HOSTILE, Duration.ZERO, HOSTILE, "plan/m/plan.log", List.of(HOSTILE))))));
    }

    @ParameterizedTest
    @MethodSource("pages")
    void namesAreTextAndNothingElse(Page.Template template) {
        String text = Page.of(template);
        assertThat(text).doesNotContain("<script", "<img", "\u202e", "\u0000");
        PageDocument page = PageDocument.of(text);
        page.requireSelfContained();
        assertThat(page.texts("*")).anySatisfy(each -> assertThat(each).contains(SHOWN));
        assertThat(Page.of(template)).isEqualTo(text);
    }

    @Test
    void namesStayWithinTheAttributeThatTheyAreIn() {
        String table = Page.of((out, html) -> JtetableGenerated.render(
                out, html, PageTable.of(List.of("cell")).styled(row -> HOSTILE).name(HOSTILE, row -> row)));
        PageDocument page = PageDocument.of(table);
        assertThat(page.values("td", "data-label")).containsExactly(SHOWN);
        assertThat(page.values("tr", "class")).containsExactly(SHOWN);
        assertThat(page.texts("td")).containsExactly("cell");
        MemoryParts memory = new MemoryParts(HOSTILE, List.of(new MemoryParts.Part(HOSTILE, 8, HOSTILE)), 8, 16);
        page = PageDocument.of(Page.of((out, html) -> JtestackGenerated.render(out, html, memory)));
        assertThat(page.values("span", "title")).containsExactly(SHOWN + ": 8 bytes");
        assertThat(page.values("*", "onerror")).isEmpty();
        assertThat(page.values("img", "src")).isEmpty();
    }

    @Test
    void columnsWithoutTextAreDroppedAndManyMakeCards() {
        PageTable<Integer> table = PageTable.of(List.of(1, 2))
                .name("a", row -> row)
                .column("b", row -> null)
                .column("c", row -> row == 2 ? "two" : "")
                .withoutEmptyColumns();
        String text = Page.of((out, html) -> JtetableGenerated.render(out, html, table));
        PageDocument page = PageDocument.of(text);
        assertThat(page.texts("th")).containsExactly("a", "c");
        assertThat(page.texts("td")).containsExactly("1", "", "2", "two");
        assertThat(page.values("td", "class")).containsExactly("text name", "text name");
        assertThat(text).contains("<td data-label=\"c\"></td>");
        assertThat(page.count("table", "wide")).isZero();
        table.column("d", row -> row).column("e", row -> row).column("f", row -> row);
        assertThat(PageDocument.of(Page.of((out, html) -> JtetableGenerated.render(out, html, table)))
                        .count("table", "wide"))
                .isEqualTo(1);
    }

    @Test
    void aFarmWithoutWorkersSaysSoAndIsLoadedAgainOnlyIfAsked() {
        FarmState empty = new FarmState(
                "tcp://broker", "now", new FarmState.Desk("1.0.0", 0, List.of()), List.of(), List.of(), List.of());
        PageDocument still = PageDocument.of(Page.of((out, html) -> JtefarmGenerated.render(out, html, empty, 0)));
        assertThat(still.texts("p"))
                .containsExactly(
                        "As of now, Kiln 1.0.0",
                        "Whoever runs the broker sees how many messages wait.",
                        "No worker. Start one with kiln:worker.",
                        "No board is plugged in anywhere.",
                        "No worker remembers a board.",
                        "Nobody is in maintenance or quarantine.",
                        "No job is running.",
                        "None.");
        assertThat(still.values("meta", "http-equiv")).doesNotContain("refresh");
        PageDocument live = PageDocument.of(Page.of((out, html) -> JtefarmGenerated.render(out, html, empty, 5)));
        assertThat(live.values("meta", "http-equiv")).contains("refresh");
        assertThat(live.values("meta", "content")).contains("5");
    }
}
