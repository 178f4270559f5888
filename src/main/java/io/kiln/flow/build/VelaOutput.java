// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.base.Printable;
import io.kiln.report.VelaRun;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** What Vela says of a model: on its standard output, which operators stay on the core; in a table of values, what it expects of the rest. */
final class VelaOutput {
    private static final int MOST_STAYED = 200;
    private static final int MOST_TEXT = 400;
    private static final long MOST_TABLE = 1 << 16;

    private static final double MILLI = 1000;

    /** Columns of the table {@code NAME_summary_SYSTEM.csv}, and their names in reports. */
    private static final Map<String, String> COLUMNS = Map.of(
            "cycles_total", "cycles",
            "inference_time", "milliseconds",
            "sram_memory_used", "sramKiB",
            "dram_memory_used", "dramKiB",
            "on_chip_flash_memory_used", "onChipFlashKiB",
            "off_chip_flash_memory_used", "offChipFlashKiB");

    private VelaOutput() {}

    /**
     * The run for reports.
     *
     * @param out the folder that Vela wrote to
     * @throws IOException if it cannot be read
     */
    static VelaRun run(String version, List<String> arguments, String said, Path out) throws IOException {
        return new VelaRun(version, arguments, stayed(said), estimates(out));
    }

    /** Operators that stay on the core, each with the reasons in the lines below it. */
    private static List<String> stayed(String said) {
        List<String> stayed = new ArrayList<>();
        boolean isReason = false;
        for (String line : said.lines().toList()) {
            if (line.endsWith("Placing on CPU instead") || line.endsWith("is a CPU only op")) {
                stayed.add(line.replaceFirst("^(Warning|Info): ", ""));
                isReason = true;
            } else if (isReason && (line.startsWith(" - ") || line.startsWith("   "))) {
                int last = stayed.size() - 1;
                stayed.set(
                        last,
                        stayed.get(last)
                                + (line.startsWith(" - ") ? ": " : "; ")
                                + line.substring(2).strip());
            } else {
                isReason = false;
            }
        }
        return stayed.stream()
                .limit(MOST_STAYED)
                .map(text -> Printable.line(text.length() > MOST_TEXT ? text.substring(0, MOST_TEXT) + "…" : text))
                .toList();
    }

    private static SortedMap<String, Double> estimates(Path out) throws IOException {
        SortedMap<String, Double> estimates = new TreeMap<>();
        try (Stream<Path> files = Files.list(out)) {
            List<Path> tables = files.filter(VelaOutput::isTable).sorted().toList();
            if (tables.size() != 1) {
                return estimates;
            }
            List<String> lines = new String(Files.readAllBytes(tables.get(0)), StandardCharsets.ISO_8859_1)
                    .lines()
                    .toList();
            if (lines.size() < 2) {
                return estimates;
            }
            String[] names = lines.get(0).split(",", -1);
            String[] values = lines.get(1).split(",", -1);
            for (int i = 0; i < Math.min(names.length, values.length); i++) {
                add(estimates, names[i].strip(), values[i].strip());
            }
        }
        return estimates;
    }

    private static boolean isTable(Path file) {
        try {
            return file.getFileName().toString().contains("_summary_")
                    && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
                    && Files.size(file) <= MOST_TABLE;
        } catch (IOException e) {
            return false;
        }
    }

    private static void add(SortedMap<String, Double> estimates, String column, String text) {
        if (COLUMNS.containsKey(column) && text.matches("\\d{1,18}(\\.\\d{1,18})?(e[+-]\\d{1,2})?")) {
            double value = Double.parseDouble(text);
            estimates.put(COLUMNS.get(column), column.equals("inference_time") ? MILLI * value : value);
        }
    }
}
