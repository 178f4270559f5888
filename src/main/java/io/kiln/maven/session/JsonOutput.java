// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.report.Json;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** The output for programs of goals that only show something: JSON on standard output, without Maven's marks. */
public final class JsonOutput {
    private JsonOutput() {}

    /**
     * Whether the user asks for it.
     *
     * @param output the value of {@code kiln.output}
     * @throws KilnException if it is neither {@code text} nor {@code json}
     */
    public static boolean isAsked(String output) {
        return switch (output) {
            case "json" -> true;
            case "text" -> false;
            default ->
                throw Failure.CONFIG.exception(
                        "there is no such output: " + output, "kiln.output", "text or json", "Correct kiln.output");
        };
    }

    /** Prints a record as one JSON document, in UTF-8 whatever the terminal's encoding is, because JSON has no other (RFC 8259, 8.1). */
    public static void print(Object report) {
        print(report, System.out);
    }

    static void print(Object report, PrintStream out) {
        byte[] json = Json.text(report).getBytes(StandardCharsets.UTF_8);
        out.write(json, 0, json.length);
        out.flush();
    }
}
