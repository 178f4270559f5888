// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * Reads XML of others from front to back, in bounded memory: document types are refused, so that there are no entities of its own, and
 * depth, elements and texts are limited.
 */
final class SafeXml {
    private static final int MOST_DEPTH = 64;
    private static final int MOST_ELEMENTS = 4_000_000;
    private static final int MOST_ATTRIBUTES = 200;

    /** Characters of a text or an attribute that are kept. */
    private static final int MOST_TEXT = 4096;

    private static final int UTF_8_MARK = 3;

    private final String file;
    private final Visitor visitor;
    private final StringBuilder text = new StringBuilder();
    private int elements;
    private int depth;

    /** Is told of each element. Its exceptions end the reading. */
    interface Visitor {
        /** An element begins. */
        void begin(String element, Map<String, String> attributes, int line);

        /**
         * It ends.
         *
         * @param text what stands directly before its end
         */
        void end(String element, String text, int line);
    }

    private SafeXml(String file, Visitor visitor) {
        this.file = file;
        this.visitor = visitor;
    }

    /**
     * Reads a file.
     *
     * @param file its name, for messages
     * @throws KilnException naming the line, if it is no such XML, or exceeds a limit
     */
    static void read(String file, Bytes content, Visitor visitor) {
        new SafeXml(file, visitor).read(content);
    }

    private void read(Bytes content) {
        // The parser of Java itself, whatever others the class path has.
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        factory.setXMLReporter(
                (message, type, related, location) -> {}); // the parser throws what it would else print as well
        try {
            XMLStreamReader reader = factory.createXMLStreamReader(characters(content.toArray()));
            while (reader.hasNext()) {
                step(reader, reader.next());
            }
        } catch (KilnException e) {
            throw e;
        } catch (XMLStreamException e) {
            int line = e.getLocation() == null ? 0 : e.getLocation().getLineNumber();
            throw refused(
                    "this is not XML: " + message(e), Math.max(1, line), "a whole file as its vendor publishes it", e);
        } catch (RuntimeException e) {
            // The parser meets some broken files with exceptions of its own parts.
            throw refused("this is not XML: " + message(e), 1, "a whole file as its vendor publishes it", e);
        }
    }

    /** Files are of UTF-8; some vendors write umlauts of Windows in comments all the same, of which none stops the reading. */
    private static Reader characters(byte[] content) {
        boolean isWide = content.length > 1 && (content[0] & 0xff) + (content[1] & 0xff) == 0xff + 0xfe;
        boolean hasMark = content.length > 2 && (content[0] & 0xff) == 0xef && (content[1] & 0xff) == 0xbb;
        int from = hasMark ? UTF_8_MARK : 0;
        return new InputStreamReader(
                new ByteArrayInputStream(content, from, content.length - from),
                isWide ? StandardCharsets.UTF_16 : StandardCharsets.UTF_8);
    }

    private static String message(Exception e) {
        String whole = String.valueOf(e.getMessage());
        int begin = whole.indexOf("Message: ");
        return begin < 0 ? whole : whole.substring(begin + "Message: ".length());
    }

    private void step(XMLStreamReader reader, int event) {
        int line = reader.getLocation().getLineNumber();
        switch (event) {
            case XMLStreamConstants.DTD ->
                throw refused("the file has a document type, which could define entities", line, "plain XML", null);
            case XMLStreamConstants.ENTITY_REFERENCE ->
                throw refused("the file has an entity of its own", line, "plain XML", null);
            case XMLStreamConstants.START_ELEMENT -> {
                if (++depth > MOST_DEPTH || ++elements > MOST_ELEMENTS) {
                    throw refused(
                            depth > MOST_DEPTH ? "the elements are too deep" : "the file has too many elements",
                            line,
                            depth > MOST_DEPTH
                                    ? "at most " + MOST_DEPTH + " in each other"
                                    : "at most " + MOST_ELEMENTS,
                            null);
                }
                text.setLength(0);
                visitor.begin(reader.getLocalName(), attributes(reader, line), line);
            }
            case XMLStreamConstants.END_ELEMENT -> {
                depth--;
                visitor.end(reader.getLocalName(), text.toString().strip(), line);
                text.setLength(0);
            }
            case XMLStreamConstants.CHARACTERS, XMLStreamConstants.CDATA -> {
                int room = MOST_TEXT - text.length();
                text.append(reader.getTextCharacters(), reader.getTextStart(), Math.min(room, reader.getTextLength()));
            }
            default -> {}
        }
    }

    private Map<String, String> attributes(XMLStreamReader reader, int line) {
        if (reader.getAttributeCount() > MOST_ATTRIBUTES) {
            throw refused("the element has too many attributes", line, "at most " + MOST_ATTRIBUTES, null);
        }
        if (reader.getAttributeCount() == 0) {
            return Map.of();
        }
        Map<String, String> attributes = new LinkedHashMap<>();
        for (int i = 0; i < reader.getAttributeCount(); i++) {
            String value = reader.getAttributeValue(i).strip();
            if (value.length() > MOST_TEXT) {
                throw refused("the attribute is too long", line, "at most " + MOST_TEXT + " characters", null);
            }
            attributes.put(reader.getAttributeLocalName(i), value);
        }
        return Collections.unmodifiableMap(attributes);
    }

    private KilnException refused(String what, int line, String expected, Throwable cause) {
        return new KilnException(Failure.BOARD.problem(what, file + ":" + line, expected), cause);
    }
}
