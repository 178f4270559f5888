// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.page;

import io.kiln.base.Printable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** Head, style and foot of all pages, and escaping of text. */
public final class Xhtml {
    /** One style sheet for all pages: narrow and wide, light and dark, on paper. */
    private static final String STYLE = style();

    private Xhtml() {}

    /**
     * Everything up to the body's first element. The policy in it keeps a browser from loading or running anything.
     *
     * @param title the page's title, not yet escaped
     */
    public static String head(String title) {
        return "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
                + "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                + "<meta http-equiv=\"Content-Security-Policy\" "
                + "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"/>\n"
                // An icon of nothing, so that a browser asks no server for one.
                + "<link rel=\"icon\" href=\"data:,\"/>\n<title>" + escape(title)
                + "</title>\n<style>\n" + STYLE + "</style>\n</head>\n<body>\n";
    }

    private static String style() {
        try (InputStream in = Objects.requireNonNull(Xhtml.class.getResourceAsStream("/report/style.css"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Everything after the body's last element. */
    public static String foot() {
        return "</body>\n</html>\n";
    }

    /** Text for XML 1.0; characters that it cannot hold, or that reorder or hide others, are replaced. */
    public static String escape(String text) {
        StringBuilder escaped = new StringBuilder();
        text.codePoints().forEach(c -> {
            switch (c) {
                case '<' -> escaped.append("&lt;");
                case '>' -> escaped.append("&gt;");
                case '&' -> escaped.append("&amp;");
                case '"' -> escaped.append("&quot;");
                default -> escaped.appendCodePoint(isAllowed(c) ? c : 0xFFFD);
            }
        });
        return escaped.toString();
    }

    private static boolean isAllowed(int c) {
        return c == '\n' || (Printable.isSafe(c) && c != 0xFFFE && c != 0xFFFF);
    }
}
