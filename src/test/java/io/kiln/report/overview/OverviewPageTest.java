// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.overview;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.LinkPlan;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.PlannedBuffer;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.DType;
import io.kiln.cycles.core.CycleRange;
import io.kiln.pages.overview.JteoverviewGenerated;
import io.kiln.report.BuildReport;
import io.kiln.report.BuildReport.ImageReport;
import io.kiln.report.BuildReport.ModelPart;
import io.kiln.report.BuildReport.PreprocessingReport;
import io.kiln.report.CycleReport;
import io.kiln.report.PageDocument;
import io.kiln.report.ProfileReport;
import io.kiln.report.VerifyReport;
import io.kiln.report.VerifyReport.Tolerance;
import io.kiln.report.graph.Graph;
import io.kiln.report.graph.Graph.Block;
import io.kiln.report.graph.Graph.Box;
import io.kiln.report.graph.Graph.Kind;
import io.kiln.report.page.Page;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The page of a build holds what the reports hold, and nothing in them can break it. */
class OverviewPageTest {
    private static final String HOSTILE = "</td></title><script>alert(1)</script>\u202e\u0000\"'&amp;";

    /** The same without characters that reorder others or are none. */
    private static final String SHOWN = "</td></title><script>alert(1)</script>\ufffd\ufffd\"'&amp;";

    private static final TensorInfo X = new TensorInfo("x", "x", DType.INT8, List.of(1, 4), 0.5f, -3);
    private static final TensorInfo Y = new TensorInfo("y", "y", DType.INT8, List.of(1, 2), 0.25f, 7);
    private static final ModelMetadata KWS = new ModelMetadata(
            "kws",
            "c -keys=cpu",
            ModelMetadata.Interface.typed(ModelMetadata.Io.CALLER, List.of(X), List.of(Y)),
            new ModelMetadata.Memory(64, 16, 20),
            new ModelMetadata.Plan(
                    "first-fit",
                    64,
                    60,
                    List.of(
                            new PlannedBuffer("a", 0, 48, 0, 1, List.of("b")),
                            new PlannedBuffer("b", 32, 32, 1, 2, List.of("a")))),
            List.of(
                    operator("tvmgen_kws_conv", "#0 CONV_2D `first`", 300),
                    operator("tvmgen_kws_dense", HOSTILE, 100)));

    private static final VerifyReport PROOF = new VerifyReport(
            "sensor", "qemu", 7, List.of(new VerifyReport.Case("vector_0", 12, 0, 0)), true, true, Tolerance.NONE, "");

    private static OperatorInfo operator(String name, String layer, long macs) {
        return new OperatorInfo(
                name,
                List.of(layer),
                "qnn.conv2d",
                List.of(X),
                List.of(Y),
                new OperatorInfo.Cost(macs, macs - 10, 20, 8),
                new OperatorInfo.ChosenSchedule("dsp_conv(pixels=2)", "two weights a halfword"));
    }

    private static BuildReport built(List<ModelMetadata> models) {
        return new BuildReport(
                "rpc",
                HOSTILE + ".tflite",
                "kws",
                "sensor",
                "clang: 20.1.7",
                "c -keys=cpu",
                new BuildReport.Calls("c", true, false, false),
                new BuildReport.Flash(12_000, 3_000, 384, 15_384, 16_384),
                new BuildReport.Ram(4, 24, 8, 64, 12, 1024, 1128, 4096),
                new BuildReport.Stack(null, 1024),
                List.of(new BuildReport.MemoryUse("rom", 15_384, 16_384), new BuildReport.MemoryUse("ram", 1128, 4096)),
                400,
                380,
                BuildReport.operators(models),
                BuildReport.plan(models),
                List.of(new LinkPlan.Group("native", "host", "compiled", 2, 99)),
                ModelPart.of(models),
                new ImageReport(
                        List.of(new ImageReport.Section(".text", "rom", 0x800_0040L, 12_000)),
                        List.of(new ImageReport.Symbol(HOSTILE, 4_321, false)),
                        List.of(
                                new ImageReport.Licence("crt", "Apache-2.0", 9),
                                new ImageReport.Licence("main", "", 1))),
                List.of(new PreprocessingReport("kws", 49, 10, 1_234L, 3_638, 3_024, null, null)),
                null,
                null);
    }

    private static Overview of(BuildReport built) {
        return new Overview(built, Optional.empty(), Optional.empty(), Optional.empty(), List.of());
    }

    private static Overview profiled(VerifyReport proof) {
        ProfileReport profile = new ProfileReport(
                        "sensor",
                        "qemu",
                        true,
                        2_000,
                        List.of(
                                new ProfileReport.Operator("tvmgen_kws_conv", List.of(), 1_500)
                                        .with(new CycleRange(1_700, 1_800, 1_900)),
                                new ProfileReport.Operator("tvmgen_kws_dense", List.of(), 500)))
                .with(CycleReport.of("Arm Cortex-M4", new CycleRange(2_100, 2_200, 2_300), null, 100_000_000L, 5))
                .with(List.of(new ProfileReport.Preprocessing("kws", 81_175, 3_977_575)));
        Graph graph = new Graph(
                "Model kws",
                List.of(HOSTILE),
                List.of(
                        new Block(Kind.INPUT, "", List.of(new Box(List.of("input x"), "x"))),
                        new Block(Kind.OPERATOR, "tvmgen_kws_conv", List.of(new Box(List.of("qnn.conv2d"), "first")))),
                List.of(new Graph.Edge(0, 1)),
                List.of());
        return new Overview(
                built(List.of(KWS)).profiled(profile),
                Optional.of(profile),
                Optional.of(proof),
                Optional.empty(),
                List.of(graph));
    }

    private static String page(Overview overview) {
        return Page.of((out, html) -> JteoverviewGenerated.render(out, html, overview));
    }

    @Test
    void signalProcessingStandsBehindTheOperators() {
        PageDocument page = PageDocument.of(page(profiled(PROOF)));
        assertThat(page.texts("h2"))
                .containsExactly(
                        "Memory",
                        "Workspace over time",
                        "Operators",
                        "Signal processing",
                        "Proof",
                        "Graph",
                        "Toolchain and licences");
        assertThat(page.texts("td"))
                .containsSequence("kws", "49", "10", "81,175", "3,977,575", "1,234", "3,638", "3,024");
    }

    @Test
    void memoryOperatorsProofAndOriginAreThere() {
        PageDocument page = PageDocument.of(page(profiled(PROOF)));
        assertThat(page.texts("b")).containsExactly("Bit-exact", "15.0 KiB", "1,128 B", "2,000", "2,200", "400");
        assertThat(page.texts("td"))
                .containsSequence("code", "12,000", "78.0 %", "constants of the models and strings", "3,000")
                .containsSequence("stack", "1,024", "90.8 %")
                .containsSequence("other variables", "16", "1.4 %", "state that models keep", "8", "0.7 %")
                .containsSequence("rom", "15,384", "16,384", "93.9 %")
                .containsSequence(".text", "rom", "0x08000040", "12,000")
                .containsSequence("75.0 %", "1,500", "1,800", "300290 executed", "20", "8")
                .containsSequence("25.0 %", "500", "", "10090 executed", "20", "8")
                .containsSequence("vector_0", "12", "0", "0", "")
                .containsSequence("toolchain", "clang: 20.1.7")
                .containsSequence("crt", "Apache-2.0", "9", "main", "not stated", "1");
        assertThat(page.texts("td"))
                .anySatisfy(cell ->
                        assertThat(cell).startsWith("0 #0 CONV_2D `first`").contains("int8 [1,2]", "tvmgen_kws_conv"));
        assertThat(page.texts("td"))
                .anySatisfy(cell -> assertThat(cell).isEqualTo("dsp_conv(pixels=2)two weights a halfword"));
        assertThat(page.texts("li"))
                .anySatisfy(remark -> assertThat(remark).contains("rom is almost full: 93.9 %"))
                .anySatisfy(remark -> assertThat(remark).contains("RPC server"))
                .anySatisfy(remark -> assertThat(remark).contains("5 executed instructions"))
                .anySatisfy(remark -> assertThat(remark)
                        .contains("Sources without a stated licence")
                        .contains("main"))
                .hasSize(4);
    }

    @Test
    void buffersAndTheGraphTellTheirNumbersUnderTheMouse() {
        VerifyReport proof = new VerifyReport("sensor", "qemu", 7, List.of(), true, true, Tolerance.NONE, "");
        PageDocument page = PageDocument.of(page(profiled(proof)));
        assertThat(page.texts("title"))
                .contains(
                        "a\n48 bytes at 0\nfrom operator 0 tvmgen_kws_conv to operator 1 tvmgen_kws_dense\nshares bytes with b",
                        "b\n32 bytes at 32\nfrom operator 1 tvmgen_kws_dense to the end\nshares bytes with a")
                .anySatisfy(title -> assertThat(title)
                        .contains(
                                "reads x: int8 [1,4], scale 0.5, zero point -3",
                                "writes y: int8 [1,2], scale 0.25, zero point 7",
                                "1,500 instructions",
                                "about 1,800 cycles",
                                "Share of instructions: 75.0 %",
                                "dsp_conv(pixels=2): two weights a halfword"));
        assertThat(page.count("rect", "buffer")).isEqualTo(2);
        assertThat(page.texts("text")).contains("tvmgen_kws_conv: 1,500 instructions");
    }

    @Test
    void aFailureSaysWhereAnswersFirstDiffer() {
        VerifyReport failed = new VerifyReport(
                "sensor",
                "qemu",
                7,
                List.of(new VerifyReport.Case("vector_0", 12, 3, 2, "y[4] is 7 instead of 9")),
                false,
                false,
                Tolerance.NONE,
                "3 of 12 outputs differ " + HOSTILE);
        PageDocument page = PageDocument.of(page(profiled(failed)));
        assertThat(page.texts("b")).startsWith("Failed");
        assertThat(page.texts("li")).startsWith("The verification failed");
        assertThat(page.texts("pre")).singleElement().asString().startsWith("3 of 12 outputs differ");
        assertThat(page.texts("td")).containsSequence("vector_0", "12", "3", "2.00000", "y[4] is 7 instead of 9");
    }

    @Test
    void whatIsNotKnownYetIsSaid() {
        PageDocument page = PageDocument.of(page(of(built(List.of(KWS, KWS)))));
        assertThat(page.texts("b")).startsWith("Not verified").contains("–");
        assertThat(page.texts("th")).contains("Share of MACs").doesNotContain("Instructions", "Cycles", "Time");
        assertThat(page.texts("h3")).containsSubsequence("kws", "kws", "kws", "kws");
        assertThat(page.texts("h2")).doesNotContain("Graph");
        assertThat(page.count("svg", "plan")).isEqualTo(2);
    }

    @Test
    void nothingIsLoadedOrRunAndEqualReportsGiveEqualPages() {
        VerifyReport proof = new VerifyReport("sensor", "qemu", 7, List.of(), true, true, Tolerance.NONE, "");
        String text = page(profiled(proof));
        PageDocument document = PageDocument.of(text);
        document.requireSelfContained();
        assertThat(document.texts("h1")).containsExactly(SHOWN + ".tflite on sensor");
        assertThat(document.values("span", "title")).contains(SHOWN);
        assertThat(page(profiled(proof))).isEqualTo(text);
    }
}
