// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Results as a table for the page of measurements: a line for each model and core or kind of memory, a column for each toolchain. */
final class BenchMarkdown {
    private BenchMarkdown() {}

    /** The table; counts that meet their goal are bold. */
    static String table(List<String> toolchains, List<BenchResult> results) {
        Map<String, Map<String, BenchResult>> lines = new LinkedHashMap<>();
        for (BenchResult result : results) {
            String[] parts = result.row().split("-", -1);
            lines.computeIfAbsent("| " + parts[0] + " | " + parts[1], key -> new LinkedHashMap<>())
                    .put(parts.length > 2 ? parts[2] : toolchains.get(0), result);
        }
        StringBuilder text = new StringBuilder("| model | counted | goal | peer | ");
        text.append(String.join(" | ", toolchains)).append(" | times fewer than the peer |\n|---|---|---:|---:|");
        text.append("---:|".repeat(toolchains.size())).append("---|\n");
        lines.forEach((line, byToolchain) -> text.append(line).append(cells(toolchains, byToolchain)));
        return text.toString();
    }

    private static String cells(List<String> toolchains, Map<String, BenchResult> results) {
        BenchResult any = results.values().iterator().next();
        List<String> cells = new ArrayList<>();
        cells.add(number(any.goal()));
        cells.add(any.peer() == 0 ? "" : number(any.peer()));
        List<String> fewer = new ArrayList<>();
        for (String toolchain : toolchains) {
            BenchResult result = results.get(toolchain);
            if (result == null) {
                cells.add("");
            } else {
                cells.add(result.met() ? "**" + number(result.count()) + "**" : number(result.count()));
                fewer.add(result.peer() == 0 ? "" : String.format(Locale.ROOT, "%.2f", result.timesFewer()));
            }
        }
        cells.add(any.peer() == 0 ? "" : String.join(", ", fewer));
        return " | " + String.join(" | ", cells) + " |\n";
    }

    private static String number(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }
}
