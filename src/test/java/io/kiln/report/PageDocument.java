// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/** A page of a report, which must be well-formed XML. */
public final class PageDocument {
    private final Document document;

    private PageDocument(Document document) {
        this.document = document;
    }

    /** Parses a page. */
    public static PageDocument of(String page) {
        try {
            DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
            factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false);
            return new PageDocument(factory.newDocumentBuilder()
                    .parse(new ByteArrayInputStream(page.getBytes(StandardCharsets.UTF_8))));
        } catch (ParserConfigurationException | SAXException | IOException e) {
            throw new AssertionError(e);
        }
    }

    /** The texts of all elements of a name. */
    public List<String> texts(String tag) {
        return elements(tag).stream().map(Element::getTextContent).toList();
    }

    /** The values of an attribute of all elements of a name that have it. */
    public List<String> values(String tag, String attribute) {
        return elements(tag).stream()
                .filter(element -> element.hasAttribute(attribute))
                .map(element -> element.getAttribute(attribute))
                .toList();
    }

    /** How many elements of a name have a class. */
    public long count(String tag, String style) {
        return elements(tag).stream()
                .filter(element ->
                        List.of(element.getAttribute("class").split(" ")).contains(style))
                .count();
    }

    /** Fails if the page has a script or a handler, or names anything outside itself. */
    public void requireSelfContained() {
        assertThat(elements("script")).isEmpty();
        List<String> ids = elements("*").stream()
                .map(e -> e.getAttribute("id"))
                .filter(id -> !id.isEmpty())
                .toList();
        assertThat(ids).doesNotHaveDuplicates();
        for (Element element : elements("*")) {
            for (int i = 0; i < element.getAttributes().getLength(); i++) {
                String name = element.getAttributes().item(i).getNodeName();
                String value = element.getAttributes().item(i).getNodeValue();
                assertThat(name).doesNotStartWith("on");
                if (name.equals("href") && value.startsWith("#")) {
                    assertThat(ids).contains(value.substring(1));
                } else if (name.equals("href")) {
                    assertThat(value).matches("data:,|plan(/[A-Za-z0-9][A-Za-z0-9_.-]*)+");
                }
                assertThat(name).isNotIn("src", "srcset", "action", "xlink:href");
            }
        }
        assertThat(texts("style")).allSatisfy(style -> assertThat(style).doesNotContain("url(", "@import"));
    }

    private List<Element> elements(String tag) {
        NodeList found = document.getElementsByTagName(tag);
        List<Element> elements = new ArrayList<>();
        for (int i = 0; i < found.getLength(); i++) {
            elements.add((Element) found.item(i));
        }
        return elements;
    }
}
