// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.pages.JtequantizeGenerated;
import io.kiln.report.PageDocument;
import io.kiln.report.QuantizeReport;
import io.kiln.report.QuantizeReport.Accuracy;
import io.kiln.report.QuantizeReport.Advice;
import io.kiln.report.QuantizeReport.Equalized;
import io.kiln.report.QuantizeReport.Input;
import io.kiln.report.QuantizeReport.Layer;
import io.kiln.report.QuantizeReport.Output;
import io.kiln.report.QuantizeReport.Trial;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

class QuantizePageTest {
    private static final String HOSTILE = "</td><script>alert(1)</script>\u202e\u0000\"'&amp;";

    private static final List<Layer> LAYERS = List.of(
            new Layer("conv/Relu", "nn.conv2d", "int8", null, 0f, 6.25f, 0.0245f, -128, 31.25, 12_345L),
            new Layer(HOSTILE, "exp", "float", "no integer form", 1f, 9f, null, null, 8.0, 0L),
            new Layer("shape", "reshape", "int8", null, null, null, 0.5f, 3, null, 0L));

    private static QuantizeReport report(List<Equalized> equalized, Accuracy accuracy, List<Trial> trials) {
        return new QuantizeReport(
                HOSTILE + ".tflite",
                "int8",
                "minmax",
                equalized,
                20,
                List.of(new Input("image", "int8", 0.5f, 3)),
                LAYERS,
                List.of(new Output("classes", "float32", null, null, 24.56)),
                0.95,
                accuracy,
                List.of(new Advice(HOSTILE, "int16", 33.3)),
                trials,
                List.of("round"));
    }

    private static QuantizeReport whole() {
        return report(
                List.of(new Equalized("conv/Relu", HOSTILE, 64)),
                new Accuracy(0.91, 0.9),
                List.of(
                        new Trial(Map.of(), 20, 0.9, false),
                        new Trial(Map.of("b", "int16", "a", "float"), 25, 1, true)));
    }

    private static String page(QuantizeReport report) {
        return Page.of((out, html) -> JtequantizeGenerated.render(out, html, report));
    }

    private static Document parsed(String page) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false);
        return factory.newDocumentBuilder().parse(new ByteArrayInputStream(page.getBytes(StandardCharsets.UTF_8)));
    }

    private static List<String> texts(Document page, String tag) {
        NodeList found = page.getElementsByTagName(tag);
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < found.getLength(); i++) {
            texts.add(found.item(i).getTextContent());
        }
        return texts;
    }

    @Test
    void everyNumberOfTheReportIsThere() throws Exception {
        Document page = parsed(page(whole()));
        assertThat(texts(page, "h2"))
                .containsExactly(
                        "Accuracy on labelled samples",
                        "Inputs and outputs",
                        "What would give most back",
                        "Layers",
                        "Search",
                        "Equalized channels");
        assertThat(texts(page, "td"))
                .containsSequence(
                        "conv/Relu", "nn.conv2d", "int8", "0.0000", "6.2500", "0.024500", "-128", "12,345", "31.3 dB")
                .containsSequence("shape", "reshape", "int8", "", "", "0.50000", "3", "0", "")
                .containsSequence("float", "91.0 %", "quantized", "90.0 %")
                .containsSequence("image", "int8", "0.50000", "3", "", "classes", "float32", "", "", "24.6 dB")
                .containsSequence("none", "20.0 dB", "90.0 %", "no", "a float, b int16", "25.0 dB", "100.0 %", "yes");
        assertThat(texts(page, "p")).anyMatch(text -> text.contains("TensorFlow Lite lacks round."));
    }

    @Test
    void namesAreTextAndNothingElse() throws Exception {
        String text = page(whole());
        Document page = parsed(text);
        assertThat(text).doesNotContain("<script", "\u202e", "\u0000", "src=", "url(");
        PageDocument.of(text).requireSelfContained();
        assertThat(texts(page, "td")).contains("</td><script>alert(1)</script>\ufffd\ufffd\"'&amp;");
        assertThat(page.getElementsByTagName("script").getLength()).isZero();
    }

    @Test
    void layersThatLoseMostAreHighlightedAndBarsAreAsLongAsTheirRatio() throws Exception {
        Document page = parsed(page(whole()));
        NodeList rows = page.getElementsByTagName("tr");
        List<String> worst = new ArrayList<>();
        for (int i = 0; i < rows.getLength(); i++) {
            if (((Element) rows.item(i)).getAttribute("class").equals("worst")) {
                worst.add(rows.item(i).getFirstChild().getTextContent());
            }
        }
        assertThat(worst).containsExactly("</td><script>alert(1)</script>\ufffd\ufffd\"'&amp;");
        assertThat(page(whole()))
                .contains("class=\"good\" style=\"width: 52%\"", "class=\"poor\" style=\"width: 13%\"");
    }

    @Test
    void whatThereIsNotHasNoHeading() throws Exception {
        QuantizeReport plain = report(List.of(), null, List.of());
        assertThat(texts(parsed(page(plain)), "h2"))
                .containsExactly("Inputs and outputs", "What would give most back", "Layers");
        assertThat(page(plain)).isEqualTo(page(report(List.of(), null, List.of())));
    }
}
