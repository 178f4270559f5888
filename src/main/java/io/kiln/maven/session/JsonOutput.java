// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.report.Json;

/** What goals that only show something print for programs: JSON on standard output, without Maven's marks. */
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
                throw new KilnException(new Problem(
                        "there is no such output: " + output, "kiln.output", "text or json", "Correct kiln.output"));
        };
    }

    /** Prints a record as one JSON document. */
    public static void print(Object report) {
        System.out.print(Json.text(report));
        System.out.flush();
    }
}
