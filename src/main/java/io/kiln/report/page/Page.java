// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.page;

import gg.jte.html.HtmlInterceptor;
import gg.jte.html.HtmlTemplateOutput;
import gg.jte.html.OwaspHtmlTemplateOutput;
import gg.jte.output.StringOutput;
import io.kiln.base.Printable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * Prints a page from a template under {@code pages/}: XHTML that needs no network, no script and no other file.
 *
 * <p>A template is compiled to a Java class during the build, so that a parameter that is missing or has another type does not compile. Whatever
 * it prints of a parameter is escaped for the place where it stands, as text or as the value of an attribute.
 */
public final class Page {
    /** One style sheet for all pages: narrow and wide, light and dark, on paper. */
    public static final String STYLE = style();

    private Page() {}

    /** A compiled template whose parameters are bound. */
    @FunctionalInterface
    public interface Template {
        /**
         * Prints the template.
         *
         * @param out where the page goes
         * @param html what the template engine asks about elements; pages have nothing to answer
         */
        void render(HtmlTemplateOutput out, HtmlInterceptor html);
    }

    /** The page that a template prints. Characters that XML 1.0 cannot hold, or that reorder or hide others, are replaced. */
    public static String of(Template template) {
        StringOutput out = new StringOutput();
        template.render(new OwaspHtmlTemplateOutput(out), null);
        return out.toString()
                .codePoints()
                .map(c -> isAllowed(c) ? c : 0xFFFD)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    private static boolean isAllowed(int c) {
        return c == '\n' || (Printable.isSafe(c) && c != 0xFFFE && c != 0xFFFF);
    }

    private static String style() {
        try (InputStream in = Objects.requireNonNull(Page.class.getResourceAsStream("/report/style.css"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
