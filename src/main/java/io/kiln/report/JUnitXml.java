// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import io.kiln.base.Printable;
import io.kiln.base.WholeFiles;
import java.nio.file.Path;
import java.util.Locale;

/** Writes a verification as JUnit XML, so that build servers show every case as a test. */
public final class JUnitXml {
    private JUnitXml() {}

    /** Writes the report whole or not at all. */
    public static void write(Path file, VerifyReport report) {
        WholeFiles.write(file, text(report));
    }

    static String text(VerifyReport report) {
        String suite = "kiln.verify." + report.board();
        StringBuilder xml = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        xml.append(String.format(
                Locale.ROOT,
                "<testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" errors=\"0\" skipped=\"0\">\n",
                escape(suite),
                report.cases().size(),
                report.failures()));
        for (VerifyReport.Case c : report.cases()) {
            xml.append("  <testcase classname=\"").append(escape(suite));
            xml.append("\" name=\"").append(escape(c.name())).append('"');
            if (c.mismatches() == 0) {
                xml.append("/>\n");
                continue;
            }
            String message = String.format(
                    Locale.ROOT,
                    "%d of %d outputs differ from the reference, by up to %s",
                    c.mismatches(),
                    c.outputs(),
                    c.maxAbsDiff());
            xml.append(">\n    <failure message=\"").append(escape(message)).append("\"/>\n  </testcase>\n");
        }
        return xml.append("</testsuite>\n").toString();
    }

    private static String escape(String text) {
        return Printable.line(text)
                .replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
