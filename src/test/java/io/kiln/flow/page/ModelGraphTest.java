// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.OperatorInfo;
import io.kiln.base.DType;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.CompiledText;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.flow.build.StatefulModelTest;
import io.kiln.flow.page.BuildPage.ModelGraph;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.pages.graph.JtepageGenerated;
import io.kiln.reference.OwnModel;
import io.kiln.report.PageDocument;
import io.kiln.report.graph.Graph;
import io.kiln.report.graph.Layout;
import io.kiln.report.graph.Layout.Point;
import io.kiln.report.graph.Layout.Rect;
import io.kiln.report.page.Page;
import io.kiln.transform.RandomNets;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/** The picture of a model: well-formed, complete, and with nothing on top of anything else. */
class ModelGraphTest {
    private static final String TARGET = "c -keys=cpu -model=host";
    private static final TensorType X = new TensorType(Shape.of(1, 4), DType.FLOAT32);

    @ParameterizedTest
    @EnumSource(OwnModel.class)
    void modelsAreDrawn(OwnModel model) throws Exception {
        Path file = model.model();
        CompiledModel compiled = ModelCompiler.compile(
                RequestDraft.of(file, TARGET).name(model.id()).build());
        Graph graph = ModelGraph.of(compiled, "model.tflite");
        assertNothingOverlaps(graph);
        Document page = parsed(page(graph));
        Function fused = compiled.stages().get(compiled.stages().size() - 1).function();
        List<String> functions = compiled.library().metadata().operators().stream()
                .map(OperatorInfo::name)
                .toList();
        assertThat(captions(graph)).isEqualTo(functions);
        assertThat(count(page, "rect", "frame")).isEqualTo(functions.size());
        assertThat(count(page, "rect", "box")).isEqualTo(fused.bindings().size());
        assertThat(count(page, "rect", "input")).isEqualTo(fused.params().size());
        assertThat(page(ModelGraph.of(compiled, "model.tflite"))).isEqualTo(page(graph));
        keep(model.id(), page(graph));
    }

    @Test
    void whatABoxSaysIsTrue() {
        CompiledModel compiled = ModelCompiler.compile(
                RequestDraft.of(OwnModel.KEYWORDS.model(), TARGET).name("kws").build());
        Graph.Block first = ModelGraph.of(compiled, "m").blocks().get(1);
        assertThat(first.caption()).isEqualTo("tvmgen_kws_fused_qnn_conv2d_nn_bias_add_tfl_requantize");
        assertThat(first.boxes().get(0).lines())
                .containsExactly(
                        "qnn.conv2d kernel_size=[10,4] strides=[2,2]",
                        "int32 (1, 25, 5, 64), 32,000 bytes",
                        "320,000 MACs",
                        "constants 2,828 bytes");
        assertThat(first.boxes().get(0).tooltip())
                .contains("model.tflite: operator #", "float32 (64,), 256 bytes: ", "constant int32 (), 4 bytes: 83");
    }

    /** The number at the end tells operators of one kind apart, so that it is never cut off. */
    @Test
    void longNamesKeepTheirEnds() {
        String name = "keyword_spotting_of_the_second_generation";
        CompiledModel compiled = ModelCompiler.compile(
                RequestDraft.of(OwnModel.KEYWORDS.model(), TARGET).name(name).build());
        String page = page(ModelGraph.of(compiled, "m"));
        List<String> numbers = compiled.library().metadata().operators().stream()
                .map(OperatorInfo::name)
                .filter(function -> function.matches(".*_[0-9]+"))
                .map(function -> function.substring(function.lastIndexOf('_')))
                .toList();
        assertThat(numbers).isNotEmpty();
        assertThat(numbers).allSatisfy(number -> assertThat(page).containsPattern("…[a-z0-9_]*" + number + "</text>"));
    }

    private static List<String> captions(Graph graph) {
        return graph.blocks().stream()
                .map(Graph.Block::caption)
                .filter(caption -> !caption.isEmpty())
                .toList();
    }

    @Test
    void randomNetsOfTwoOutputsAreDrawn() throws Exception {
        int drawn = 0;
        for (long seed = 0; seed < 60; seed++) {
            Function net = RandomNets.next(seed);
            if (net.results().size() == 2) {
                Graph graph = ModelGraph.of(compile(net), "net");
                assertNothingOverlaps(graph);
                assertThat(count(parsed(page(graph)), "rect", "output")).isEqualTo(2);
                keep("two-outputs", page(graph));
                drawn++;
            }
        }
        assertThat(drawn).isPositive();
    }

    @Test
    void whatIsRememberedIsDrawn() throws Exception {
        Graph graph = ModelGraph.of(compile(StatefulModelTest.sums(0)), "sums");
        assertNothingOverlaps(graph);
        assertThat(count(parsed(page(graph)), "rect", "variable")).isEqualTo(1);
    }

    /** Whoever reads a variable behind an operator that writes it reads what that wrote; what operators call is drawn too. */
    @Test
    void branchesAreDrawn() throws Exception {
        Graph graph = ModelGraph.of(CompiledText.of("choice", CompiledText.CALLING), "choice");
        assertNothingOverlaps(graph);
        assertThat(graph.blocks())
                .extracting(block -> block.boxes().get(0).lines().get(0))
                .containsExactly("input c", "input x", "variable y", "tfl.if", "output output");
        assertThat(graph.edges())
                .containsExactlyInAnyOrder(
                        new Graph.Edge(0, 3), new Graph.Edge(1, 3), new Graph.Edge(2, 3), new Graph.Edge(3, 4));
        assertThat(graph.blocks().get(3).boxes().get(0).lines())
                .containsExactly("tfl.if", "then choice_0", "otherwise choice_1");
        graph.called().forEach(ModelGraphTest::assertNothingOverlaps);
        assertThat(captions(graph.called().get(0))).allMatch(caption -> caption.startsWith("tvmgen_choice_0_"));
        assertThat(graph.called())
                .extracting(Graph::title)
                .containsExactly("Function choice_0, twice in the model", "Function choice_1, same in the model");
        assertThat(count(parsed(page(graph)), "rect", "input")).isEqualTo(4);
    }

    /** Every third operator reads a value from far above. */
    @Test
    void aLongGraphWithManyLinesBesideIsDrawn() throws Exception {
        List<Binding> bindings = new ArrayList<>();
        for (int id = 1; id <= 600; id++) {
            boolean sum = id % 3 == 0;
            List<Arg> args = sum
                    ? List.of(new Arg.Ref(id - 1), new Arg.Ref(Math.max(0, id - 3 - id % 40)))
                    : List.of(new Arg.Ref(id - 1));
            bindings.add(new Binding(
                    id,
                    sum ? new Binary(Binary.Kind.ADD) : new Clip(-id, id),
                    args,
                    X,
                    new Origin("m", id, "OP", "t" + id)));
        }
        Graph graph = ModelGraph.of(compile(function("long_graph", "x", bindings)), "m");
        assertThat(graph.blocks()).hasSizeGreaterThan(300);
        assertNothingOverlaps(graph);
        parsed(page(graph));
    }

    @Test
    void namesCannotBreakThePage() throws Exception {
        String name = "</text><script>alert(1)</script>&\"\u0000\uFFFF" + "😀".repeat(100);
        Binding only = new Binding(1, new Clip(0, 6), List.of(new Arg.Ref(0)), X, new Origin(name, 0, name, name));
        Document page = parsed(page(ModelGraph.of(compile(function("m", name, List.of(only))), name)));
        assertThat(page.getElementsByTagName("script").getLength()).isZero();
        assertThat(page.getElementsByTagName("rect").getLength()).isEqualTo(4);
    }

    private static Function function(String module, String input, List<Binding> bindings) {
        int last = bindings.get(bindings.size() - 1).id();
        return new Function(
                module,
                List.of(new Parameter(0, input, X, Optional.empty())),
                bindings,
                List.of(new Result(last, "y", Optional.empty())));
    }

    private static CompiledModel compile(Function function) {
        return ModelCompiler.compile(
                RequestDraft.of(Path.of("m"), TARGET).name(function.name()).build(), function);
    }

    /** Blocks keep apart; lines begin and end at their blocks, run straight, and cross none. */
    private static void assertNothingOverlaps(Graph graph) {
        Layout layout = Layout.of(graph);
        List<Rect> rects = layout.blocks();
        for (int i = 0; i < rects.size(); i++) {
            Rect a = rects.get(i);
            assertThat(a.x() >= 0 && a.y() >= 0 && right(a) <= layout.width() && bottom(a) <= layout.height())
                    .isTrue();
            for (int k = 0; k < i; k++) {
                assertThat(meets(a, rects.get(k).x(), rects.get(k).y(), right(rects.get(k)), bottom(rects.get(k))))
                        .as("blocks %d and %d", k, i)
                        .isFalse();
            }
        }
        assertThat(layout.routes()).hasSameSizeAs(graph.edges());
        for (int i = 0; i < layout.routes().size(); i++) {
            List<Point> route = layout.routes().get(i);
            Rect from = rects.get(graph.edges().get(i).from());
            Rect to = rects.get(graph.edges().get(i).to());
            Point end = route.get(route.size() - 1);
            assertThat(route.get(0)).isEqualTo(new Point(from.x() + from.width() / 2, bottom(from)));
            assertThat(end.y()).isEqualTo(to.y());
            assertThat(end.x()).isBetween(to.x(), right(to));
            for (int k = 1; k < route.size(); k++) {
                assertCrossesNothing(route.get(k - 1), route.get(k), layout);
            }
        }
    }

    private static void assertCrossesNothing(Point a, Point b, Layout layout) {
        assertThat(a.x() == b.x() || a.y() == b.y()).isTrue();
        assertThat(Math.max(a.x(), b.x())).isLessThan(layout.width());
        for (Rect rect : layout.blocks()) {
            assertThat(meets(
                            rect,
                            Math.min(a.x(), b.x()),
                            Math.min(a.y(), b.y()),
                            Math.max(a.x(), b.x()),
                            Math.max(a.y(), b.y())))
                    .as("%s to %s and %s", a, b, rect)
                    .isFalse();
        }
    }

    /** Whether a rectangle's inside meets another rectangle, which may be a line. */
    private static boolean meets(Rect rect, int left, int top, int right, int bottom) {
        return left < right(rect) && right > rect.x() && top < bottom(rect) && bottom > rect.y();
    }

    private static int right(Rect rect) {
        return rect.x() + rect.width();
    }

    private static int bottom(Rect rect) {
        return rect.y() + rect.height();
    }

    private static String page(Graph graph) {
        return Page.of((out, html) -> JtepageGenerated.render(out, html, graph));
    }

    private static Document parsed(String page) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setFeature("http://xml.org/sax/features/external-general-entities", false);
        Document document = factory.newDocumentBuilder().parse(new InputSource(new StringReader(page)));
        assertThat(page).doesNotContain("src=", "url(http");
        PageDocument.of(page).requireSelfContained();
        return document;
    }

    private static int count(Document page, String tag, String style) {
        NodeList all = page.getElementsByTagName(tag);
        int count = 0;
        for (int i = 0; i < all.getLength(); i++) {
            count += ((Element) all.item(i)).getAttribute("class").equals(style) ? 1 : 0;
        }
        return count;
    }

    /** For the eye, where {@code -Dgraphs=<folder>} says. */
    private static void keep(String name, String page) throws IOException {
        String folder = System.getProperty("graphs");
        if (folder != null) {
            Files.writeString(Files.createDirectories(Path.of(folder)).resolve(name + ".html"), page);
        }
    }
}
