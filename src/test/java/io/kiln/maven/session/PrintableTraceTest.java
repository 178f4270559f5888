// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Printable;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class PrintableTraceTest {
    private static final String FORGED = "entry \u001b[2Jx\n[INFO] BUILD SUCCESS\u202e";

    /** Maven prints it with -e; commons-compress, for one, quotes the names of entries. */
    @Test
    void noCauseActsOnATerminalOrForgesALine() {
        IOException cause = new IOException(FORGED, new IllegalStateException(FORGED));
        cause.addSuppressed(new IOException(FORGED));
        String shown = trace(PrintableTrace.of(new KilnException(Failure.CONFIG.problem("bad zip", "a.zip"), cause)));
        assertThat(shown)
                .contains("java.io.IOException: entry \\u001b[2Jx", "java.lang.IllegalStateException", "Suppressed: ")
                .contains("at " + PrintableTraceTest.class.getName())
                .doesNotContain("\n[INFO]");
        assertThat(shown.codePoints()).allMatch(c -> c == '\n' || Printable.isSafe(c));
    }

    @Test
    void causesInACircleEnd() {
        IOException one = new IOException("one");
        one.initCause(new IOException("two", one));
        assertThat(trace(PrintableTrace.of(one))).contains("one", "two");
    }

    private static String trace(Throwable failure) {
        StringWriter out = new StringWriter();
        failure.printStackTrace(new PrintWriter(out, true));
        return out.toString();
    }
}
