// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.page;

import io.kiln.base.Printable;

/** What all pages have in common. */
public final class Xhtml {
    private Xhtml() {}

    /**
     * Everything up to the body's first element. The policy in it keeps a browser from loading or running anything.
     *
     * @param title the page's title, not yet escaped
     * @param style its style sheet
     */
    public static String head(String title, String style) {
        return "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
                + "<meta charset=\"utf-8\"/>\n<meta http-equiv=\"Content-Security-Policy\" "
                + "content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n<title>" + escape(title)
                + "</title>\n<style>\n" + style + "</style>\n</head>\n<body>\n";
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
